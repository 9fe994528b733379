package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	files "landfall/internal/kit/book"
)

// bareJSONArgument runs this program as one that only parses the files of a
// book.
const bareJSONArgument = "bare-json"

// measureProof compares checking a book, with all rules and sums, with a
// program that only parses the same JSON on as many cores.
func measureProof(ctx context.Context, p plan, m *harness) (measured, error) {
	folder, err := m.generate(ctx, "proof", 4*p.book)
	if err != nil {
		return measured{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return measured{}, err
	}
	// Accounts per second for both arms, because both read the same book.
	timed := func(work func() error) (sample, error) {
		began := time.Now()
		err := work()
		return sample{rate: float64(4*p.book) / time.Since(began).Seconds()}, err
	}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			// Include the start of the process: the other arm is a process as
			// well.
			return timed(func() error {
				_, err := m.tell(ctx, "validate", folder)
				return err
			})
		},
		func() (sample, error) {
			return timed(exec.CommandContext(ctx, program, bareJSONArgument, folder).Run)
		})
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts parsed as JSON")}, err
}

// parseBook reads every line of a book with the standard library, on all cores.
func parseBook(folder string) error {
	found, err := files.Open(folder)
	if err != nil {
		return err
	}
	// Both arms use the same reader for blocks. The comparison starts after it.
	blocks := make(chan files.Block)
	failures := make(chan error, runtime.GOMAXPROCS(0))
	var parsers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		parsers.Go(func() {
			for block := range blocks {
				for line := range block.Lines() {
					var read map[string]any
					if err := json.Unmarshal(line.Text, &read); err != nil {
						failures <- err
						return
					}
				}
			}
		})
	}
	for _, file := range found.Files {
		for block, err := range file.Blocks() {
			if err != nil {
				return err
			}
			// A failed worker stops reading, so the sender must not wait for
			// it.
			select {
			case blocks <- block:
			case err := <-failures:
				return err
			}
		}
	}
	close(blocks)
	parsers.Wait()
	close(failures)
	return <-failures
}

// generate creates a book for the benchmark supplier.
func (m *harness) generate(ctx context.Context, name string, accounts int) (string, error) {
	folder := filepath.Join(m.folder, name)
	_, err := m.tell(ctx, "generate", folder, "--accounts", strconv.Itoa(accounts), "--supplier", supplier)
	return folder, err
}

// rewrites is how often the rows of a book are written in bulk; the mean
// counts.
const rewrites = 2

// measureImport compares importing a whole book, from its files to the report,
// with a bulk write of the same rows.
func measureImport(
	kind string, database func(context.Context, *harness) (string, error),
	rewrite func(context.Context, *harness, string) (time.Duration, error),
) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		// A new database, because the rows that are written again must be those
		// of this book alone.
		name, err := database(ctx, m)
		if err != nil {
			return measured{}, err
		}
		folder, err := m.generate(ctx, "book-"+kind, p.book)
		if err != nil {
			return measured{}, err
		}
		ours, memory, err := m.importBook(ctx, name, folder)
		if err != nil {
			return measured{}, err
		}
		// Not alternated: an import changes the database, and the second arm
		// needs its result. The second arm is short in comparison, so it runs
		// twice.
		var raw time.Duration
		for range rewrites {
			took, err := rewrite(ctx, m, name)
			if err != nil {
				return measured{}, fmt.Errorf("raw limit: %w", err)
			}
			raw += took / rewrites
		}
		// Both divided by the number of accounts, so that the ratio is one of
		// times.
		rate := func(took time.Duration) sample { return sample{rate: float64(p.book) / took.Seconds()} }
		return measured{
			ratio: raw.Seconds() / ours.Seconds(), raw: rate(raw).of("accounts written in bulk"),
			ours: fmt.Sprintf("%s, server %.0f MiB and client %.0f MiB at most", rate(ours).of("accounts with everything on them"), memory.server, memory.client),
		}, nil
	}
}

// peaks is the peak memory of client and server during an import, in MiB.
type peaks struct{ server, client float64 }

// importBook starts a server, imports a book and returns how long that took and
// the peak memory of both sides.
func (m *harness) importBook(ctx context.Context, database, folder string) (took time.Duration, memory peaks, err error) {
	s, err := m.start(ctx, database)
	if err != nil {
		return 0, memory, err
	}
	defer s.stop()
	command := exec.CommandContext(ctx, m.program, "import", folder, "--team", "Bench Team")
	command.Env = append(os.Environ(), "LANDFALL_SERVER=http://"+s.address, "LANDFALL_API_KEY="+s.key)
	// The server is already running. Reading the files and writing the report
	// are part of the import.
	if took, memory.client, err = runMeasured(command); err != nil {
		return 0, memory, err
	}
	memory.server, err = s.memory("VmHWM")
	return took, memory, err
}

// copyTables writes the rows of a PostgreSQL database again, with COPY from two
// connections into tables like the originals, and returns how long the writing
// took.
func copyTables(ctx context.Context, m *harness, database string) (time.Duration, error) {
	// The largest tables first, so that two connections end at about the same
	// time. Empty ones are left out.
	tables, err := m.lines(ctx, database, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.reltuples <> 0 ORDER BY pg_total_relation_size(c.oid) DESC`)
	if err != nil {
		return 0, err
	}
	statements := []string{"DROP SCHEMA IF EXISTS raw CASCADE", "CREATE SCHEMA raw"}
	for _, table := range tables {
		// With all indexes and constraints: COPY into bare tables would be an
		// unrealistic limit.
		statements = append(statements, fmt.Sprintf(`CREATE TABLE raw.%q (LIKE public.%q INCLUDING ALL)`, table, table),
			fmt.Sprintf(`\copy public.%q TO '%s' (FORMAT binary)`, table, filepath.Join(m.folder, table+".copy")))
	}
	if err := m.psqlLines(ctx, database, statements); err != nil {
		return 0, err
	}
	// The files are written before the clock starts: exporting the rows is not
	// part of writing them.
	work := make(chan string, len(tables))
	for _, table := range tables {
		work <- table
	}
	close(work)
	failures := make([]error, 2)
	var writers sync.WaitGroup
	began := time.Now()
	for i := range failures {
		writers.Go(func() {
			for table := range work {
				failures[i] = errors.Join(failures[i], m.psqlLines(ctx, database,
					[]string{fmt.Sprintf(`\copy raw.%q FROM '%s' (FORMAT binary)`, table, filepath.Join(m.folder, table+".copy"))}))
			}
		})
	}
	writers.Wait()
	return time.Since(began), errors.Join(failures...)
}

// psqlLines runs statements, one per line.
func (m *harness) psqlLines(ctx context.Context, database string, statements []string) error {
	for i, statement := range statements {
		// A line that starts with a backslash is a command of psql.
		if statement[0] != '\\' {
			statements[i] += ";"
		}
	}
	command := exec.CommandContext(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", database)
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	go func() {
		out := bufio.NewWriter(input)
		for _, statement := range statements {
			fmt.Fprintln(out, statement)
		}
		_ = out.Flush() // psql reports what is missing
		_ = input.Close()
	}()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, output)
	}
	return nil
}
