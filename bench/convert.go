package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// bareParserArgument runs this program as one that only parses tables.
const bareParserArgument = "bare-csv"

// tableAccounts is the number of accounts in the tables.
const tableAccounts = 40_000

// measureConvert compares the conversion of an old system's tables, including
// sorting, joining and writing, with a program that only parses the same CSV on
// as many cores.
func measureConvert(ctx context.Context, p plan, m *harness) (measured, error) {
	tables := filepath.Join(m.folder, "tables")
	if _, err := m.tell(ctx, "generate", tables, "--format", "csv", "--accounts", fmt.Sprint(tableAccounts)); err != nil {
		return measured{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return measured{}, err
	}
	// A new folder for each attempt, so that no round finds the previous book.
	attempt := 0
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			attempt++
			book := filepath.Join(m.folder, fmt.Sprintf("converted-%d", attempt))
			// Remove it after the round, or the disk would fill up.
			defer func() { _ = os.RemoveAll(book) }()
			return timeAccounts(func() error {
				_, err := m.tell(ctx, "convert", tables, book)
				return err
			})
		},
		func() (sample, error) {
			return timeAccounts(exec.CommandContext(ctx, program, bareParserArgument, tables).Run)
		})
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts parsed as CSV")}, err
}

// timeAccounts returns accounts per second, so that arms with other units can be
// compared.
func timeAccounts(work func() error) (sample, error) {
	started := time.Now()
	err := work()
	return sample{rate: tableAccounts / time.Since(started).Seconds()}, err
}

// parseBare reads the tables of a folder with the standard library, as many in
// parallel as there are cores.
func parseBare(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.CSV"))
	if err != nil {
		return err
	}
	// The tables differ in size, so each parser takes the next one when it is
	// done.
	work := make(chan string, len(paths))
	for _, path := range paths {
		work <- path
	}
	close(work)
	var parsers sync.WaitGroup
	wrong := make(chan error, runtime.GOMAXPROCS(0))
	for range runtime.GOMAXPROCS(0) {
		parsers.Go(func() {
			for path := range work {
				if err := parseTable(path); err != nil {
					wrong <- err
					return
				}
			}
		})
	}
	parsers.Wait()
	close(wrong)
	return <-wrong
}

// parseTable discards what it reads.
func parseTable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comma = ';'
	for {
		if _, err := reader.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
