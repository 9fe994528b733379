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

// bareParserArgument makes the program one that only parses tables.
const bareParserArgument = "bare-csv"

// tableAccounts is how many accounts the tables of a measurement have.
const tableAccounts = 40_000

// measureConvert compares the conversion of an old system's tables, sorting,
// joining and writing included, with a program that only parses the same CSV
// on as many cores.
func measureConvert(ctx context.Context, p plan, m *machinery) (result, error) {
	tables := filepath.Join(m.folder, "tables")
	if _, err := m.tell(ctx, "generate", tables, "--format", "csv", "--accounts", fmt.Sprint(tableAccounts)); err != nil {
		return result{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	// A folder of its own for each attempt, so that no round finds the book of the one before.
	attempt := 0
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			attempt++
			book := filepath.Join(m.folder, fmt.Sprintf("converted-%d", attempt))
			// Taken away after the round, or the disk would fill up and slow down the next.
			defer func() { _ = os.RemoveAll(book) }()
			return timed(func() error {
				_, err := m.tell(ctx, "convert", tables, book)
				return err
			})
		},
		func() (sample, error) {
			return timed(exec.CommandContext(ctx, program, bareParserArgument, tables).Run)
		})
	return result{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts of which the CSV was parsed")}, err
}

// timed gives accounts a second, so that arms with other units can be compared.
func timed(work func() error) (sample, error) {
	started := time.Now()
	err := work()
	return sample{rate: tableAccounts / time.Since(started).Seconds()}, err
}

// parseBare reads the tables of a folder with the standard library, as many at
// once as there are cores.
func parseBare(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.CSV"))
	if err != nil {
		return err
	}
	// The tables differ in size, so parsers take the next one when they are done and none is
	// assigned beforehand.
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

// parseTable keeps nothing of what it reads: a program that only parses.
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
