package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// exportedRows are the queries for the rows that an export of whole accounts
// reads, in their order.
var exportedRows = []string{
	`SELECT p.external, p.account_number, p.account_created_at, a.revision, a.currency, a.balance, a.open_from_on, g.document
		FROM process p JOIN account a ON a.id = p.id JOIN staging g ON g.process_id = a.id AND g.revision = a.revision ORDER BY p.first_staged_at, p.external`,
	`SELECT * FROM ledger_entry ORDER BY account_id, sequence`,
	`SELECT * FROM note ORDER BY account_id, ordinal`,
	`SELECT * FROM historical_statement ORDER BY account_id, ordinal`,
	`SELECT * FROM instruction ORDER BY account_id, ordinal`,
}

// measureExport compares exporting whole accounts as lines, from the start of the
// program to files on disk, with a program that copies the same rows as they are
// stored: without unpacking documents, building JSON or checking who reads.
func measureExport(
	database func(context.Context, *harness) (string, error), other string, bare func(ctx context.Context, m *harness, database, file string) error,
) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		s, key, err := m.exportable(ctx, p, database)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		round := 0
		timed := func(work func() error) (sample, error) {
			began := time.Now()
			err := work()
			return sample{rate: float64(p.book) / time.Since(began).Seconds()}, err
		}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) {
				round++
				return timed(func() error {
					_, err := m.export(ctx, s, key, fmt.Sprintf("export-%d", round))
					return err
				})
			},
			func() (sample, error) {
				file := filepath.Join(m.folder, "copied")
				return timed(func() error { return bare(ctx, m, s.database, file) })
			})
		return measured{ratio: ratio, ours: ours.of("accounts with all that is on them"), raw: raw.of(other)}, err
	}
}

// measureExportMemory returns the peak memory of an export in MiB: that of the
// command and how far that of the server rose above idle, whichever is more.
func measureExportMemory(ctx context.Context, p plan, m *harness) (measured, error) {
	s, key, err := m.exportable(ctx, p, fresh("export_memory"))
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	idle, err := s.memory("VmRSS")
	if err != nil {
		return measured{}, err
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.command.Process.Pid), []byte("5"), 0); err != nil {
		return measured{}, err
	}
	client, err := m.export(ctx, s, key, "export-memory")
	if err != nil {
		return measured{}, err
	}
	peak, err := s.memory("VmHWM")
	return measured{
		ratio: max(client, peak-idle), atMost: true,
		ours: fmt.Sprintf("client %.0f MiB, server %.0f MiB for %d accounts", client, peak, p.book), raw: fmt.Sprintf("server %.0f MiB idle", idle),
	}, err
}

// exportable starts a server with the accounts of a book, and a key that may
// read them.
func (m *harness) exportable(ctx context.Context, p plan, database func(context.Context, *harness) (string, error)) (*service, string, error) {
	name, err := database(ctx, m)
	if err != nil {
		return nil, "", err
	}
	folder := filepath.Join(m.folder, "book-export")
	if _, err := os.Stat(folder); err != nil {
		if folder, err = m.generate(ctx, "book-export", p.book); err != nil {
			return nil, "", err
		}
	}
	if _, _, err := m.importBook(ctx, name, folder); err != nil {
		return nil, "", err
	}
	if err := os.RemoveAll(filepath.Join(folder, ".landfall")); err != nil {
		return nil, "", err
	}
	key, err := m.tell(ctx, "key", "create", "Bench", "--role", "reader", "--database", name)
	if err != nil {
		return nil, "", err
	}
	s, err := m.serve(ctx, name, strings.TrimSpace(key))
	return s, strings.TrimSpace(key), err
}

// export exports all accounts and returns the peak memory of the command in MiB.
func (m *harness) export(ctx context.Context, s *service, key, folder string) (memory float64, err error) {
	folder = filepath.Join(m.folder, folder)
	command := exec.CommandContext(ctx, m.program, "export", supplier, "--to", folder, "--reason", "bench")
	command.Env = append(os.Environ(), "LANDFALL_SERVER=http://"+s.address, "LANDFALL_API_KEY="+key)
	if output, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("exporting: %w\n%s", err, output)
	}
	if used, known := command.ProcessState.SysUsage().(*syscall.Rusage); known {
		memory = float64(used.Maxrss) / 1024
	}
	return memory, os.RemoveAll(folder)
}

// copyRows copies the rows with psql.
func copyRows(ctx context.Context, _ *harness, database, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	args := []string{"-X", "-q", "-v", "ON_ERROR_STOP=1"}
	for _, query := range exportedRows {
		args = append(args, "-c", "COPY ("+query+") TO STDOUT")
	}
	command := exec.CommandContext(ctx, "psql", append(args, database)...)
	command.Stdout, command.Stderr = out, os.Stderr
	if err := command.Run(); err != nil {
		return err
	}
	return out.Sync()
}

// readRows copies the rows with a bare program.
func readRows(ctx context.Context, _ *harness, database, file string) error {
	db, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite:")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	created, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { _ = created.Close() }()
	out := bufio.NewWriterSize(created, 1<<18)
	for _, query := range exportedRows {
		if err := copyQuery(ctx, db, query, out); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return created.Sync()
}

// copyQuery writes the rows of a query with tabs between the values.
func copyQuery(ctx context.Context, db *sql.DB, query string, out *bufio.Writer) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	cells, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for _, cell := range cells {
			_, _ = out.Write(cell) // Flush returns the error
			_ = out.WriteByte('\t')
		}
		_ = out.WriteByte('\n')
	}
	return rows.Err()
}
