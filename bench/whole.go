package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// wholePath is the stream of whole accounts, without pages.
const wholePath = "/v1/data-import/accounts/" + supplier + "/"

// measureWhole compares the stream of whole accounts over HTTP, with the record
// and everything that was added, with psql copying the same bytes out of one
// table. It also shows the peak of the server's memory above idle and the bytes
// on disk of each created account.
func measureWhole(ctx context.Context, p plan, m *harness) (measured, error) {
	database, err := m.freshPostgres(ctx, "whole")
	if err != nil {
		return measured{}, err
	}
	folder, err := m.generate(ctx, "book-whole", p.whole)
	if err != nil {
		return measured{}, err
	}
	if _, _, err := m.importBook(ctx, database, folder); err != nil {
		return measured{}, err
	}
	key, err := m.tell(ctx, "key", "create", "Bench", "--role", "reader", "--database", database)
	if err != nil {
		return measured{}, err
	}
	s, err := m.serve(ctx, database, strings.TrimSpace(key))
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	size, _, err := m.disk(ctx, s, database)
	if err != nil {
		return measured{}, err
	}
	// The raw table has exactly the lines of the stream.
	lines := filepath.Join(m.folder, "whole.ndjson")
	if err := s.saveWhole(ctx, lines, p.whole); err != nil {
		return measured{}, err
	}
	copyOut, err := m.rawLines(ctx, database, lines)
	if err != nil {
		return measured{}, err
	}
	// The stream uses both processors and psql little more than one, so what else the
	// server does would slow down the one more than the other.
	if err := m.untilIndexed(ctx, database); err != nil {
		return measured{}, err
	}
	idle, err := s.memory("VmRSS")
	if err != nil {
		return measured{}, err
	}
	// Writing 5 resets the peak of resident memory.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.command.Process.Pid), []byte("5"), 0); err != nil {
		return measured{}, err
	}
	timed := func(work func() error) (sample, error) {
		began := time.Now()
		err := work()
		return sample{rate: float64(p.whole) / time.Since(began).Seconds()}, err
	}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			return timed(func() error { return s.readWhole(ctx, io.Discard, p.whole) })
		},
		func() (sample, error) {
			return timed(func() error { return m.psql(ctx, database, copyOut) })
		})
	if err != nil {
		return measured{}, err
	}
	peak, err := s.memory("VmHWM")
	return measured{
		ratio: ratio, raw: raw.of("accounts by psql COPY"),
		ours: fmt.Sprintf("%s, %.0f MiB above idle at most, %.0f bytes on disk per created account", ours.of("accounts streamed whole"), peak-idle, size/float64(p.whole)),
	}, err
}

// untilIndexed waits until a server has indexed all accounts for the search, which
// it does after an import.
func (m *harness) untilIndexed(ctx context.Context, database string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	for {
		left, err := m.ask(ctx, database, `SELECT count(*) FROM process p WHERE NOT EXISTS (SELECT 1 FROM search_term t WHERE t.account_id = p.id)`)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

// rawLines loads a file of JSON lines into a table, and returns the statement that
// copies them out. Neither delimiter nor quote occur in JSON, so every line is one value.
func (m *harness) rawLines(ctx context.Context, database, lines string) (copyOut string, err error) {
	const format = ` (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')`
	return `COPY raw_whole TO STDOUT` + format, m.psqlLines(ctx, database, []string{
		`CREATE TABLE raw_whole (line text)`, `\copy raw_whole FROM '` + lines + `'` + format, `VACUUM ANALYZE raw_whole`,
	})
}

// saveWhole writes the stream to a file.
func (s *service) saveWhole(ctx context.Context, path string, accounts int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // synced below
	out := bufio.NewWriter(file)
	if err := s.readWhole(ctx, out, accounts); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Sync()
}

// readWhole reads the stream and counts the accounts.
func (s *service) readWhole(ctx context.Context, to io.Writer, accounts int) error {
	answer, err := s.get(ctx, wholePath)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	count := &wholeCounter{to: to}
	if _, err := io.Copy(count, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || count.lines != accounts {
		return fmt.Errorf("the stream answered %s with %d whole accounts, not %d", answer.Status, count.lines, accounts)
	}
	return nil
}

// wholeCounter counts lines.
type wholeCounter struct {
	to    io.Writer
	lines int
}

// Write counts line breaks, of which a record in a stream has none.
func (c *wholeCounter) Write(chunk []byte) (int, error) {
	c.lines += bytes.Count(chunk, []byte{'\n'})
	return c.to.Write(chunk)
}
