package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measureExport compares exporting whole accounts as lines, from the start of the
// program to files on disk, with a bare program. SetUp gets the exported lines and
// returns a function that copies them, or the rows they are made of, to a file.
func measureExport(
	database func(context.Context, *harness) (string, error), other string,
	setUp func(ctx context.Context, m *harness, database, lines string) (bare func(file string) error, err error),
) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		s, key, err := m.exportable(ctx, p, database)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		first := filepath.Join(m.folder, "exported")
		if _, err := m.export(ctx, s, key, first); err != nil {
			return measured{}, err
		}
		bare, err := setUp(ctx, m, s.database, filepath.Join(first, "whole-accounts.ndjson"))
		if err != nil {
			return measured{}, err
		}
		if err := os.RemoveAll(first); err != nil {
			return measured{}, err
		}
		timed := func(work func() error) (sample, error) {
			began := time.Now()
			err := work()
			return sample{rate: float64(p.book) / time.Since(began).Seconds()}, err
		}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) {
				folder := filepath.Join(m.folder, "export")
				exported, err := timed(func() error {
					_, err := m.export(ctx, s, key, folder)
					return err
				})
				return exported, errors.Join(err, os.RemoveAll(folder))
			},
			func() (sample, error) {
				return timed(func() error { return bare(filepath.Join(m.folder, "copied")) })
			})
		return measured{ratio: ratio, ours: ours.of("accounts with everything on them"), raw: raw.of(other)}, err
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
	client, err := m.export(ctx, s, key, filepath.Join(m.folder, "export-memory"))
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
	command := exec.CommandContext(ctx, m.program, "export", supplier, "--to", folder, "--reason", "bench")
	command.Env = append(os.Environ(), "LANDFALL_SERVER=http://"+s.address, "LANDFALL_API_KEY="+key)
	_, memory, err = runMeasured(command)
	return memory, err
}

// copyLines returns a function that copies the same lines out of one table with psql.
func copyLines(ctx context.Context, m *harness, database, lines string) (func(file string) error, error) {
	statement, err := m.rawLines(ctx, database, lines)
	return func(file string) error {
		out, err := os.Create(file)
		if err != nil {
			return err
		}
		defer func() { _ = out.Close() }()
		command := exec.CommandContext(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, database)
		command.Stdout, command.Stderr = out, os.Stderr
		if err := command.Run(); err != nil {
			return err
		}
		return out.Sync()
	}, err
}

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

// copyRows returns a function that copies the rows as SQLite stores them: without
// unpacking documents, building JSON or checking who reads.
func copyRows(ctx context.Context, _ *harness, database, _ string) (func(file string) error, error) {
	return func(file string) error {
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
	}, nil
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
