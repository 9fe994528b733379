package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// listPath is the long list, which is streamed.
const listPath = "/v1/data-import/all-account-import-processes/" + supplier + "/"

// listQuery is the query for COPY: the columns and the order of the list.
const listQuery = `COPY (SELECT external, account_number, to_timestamp(account_created_at / 1000000.0) FROM process
	WHERE state <> 'skipped' ORDER BY first_staged_at, external) TO STDOUT`

// repeats is how often one arm reads the whole list, so that starting psql does
// not matter.
const repeats = 10

// measureList compares the list over HTTP with psql copying the same rows.
func measureList(ctx context.Context, p plan, m *harness) (measured, error) {
	const rows = 100_000
	s, database, err := m.longList(ctx, "list", rows)
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			started := time.Now()
			for range repeats {
				if err := s.readList(ctx, rows); err != nil {
					return sample{}, err
				}
			}
			return sample{rate: repeats * rows / time.Since(started).Seconds()}, nil
		},
		func() (sample, error) {
			started := time.Now()
			err := m.psql(ctx, database, strings.Repeat(listQuery+";\n", repeats))
			return sample{rate: repeats * rows / time.Since(started).Seconds()}, err
		})
	return measured{ratio: ratio, ours: ours.of("rows"), raw: raw.of("rows by psql COPY")}, err
}

// measureListMemory reads one long list and returns how far the server's memory
// rose above idle, in MiB.
func measureListMemory(ctx context.Context, p plan, m *harness) (measured, error) {
	s, _, err := m.longList(ctx, "memory", p.rows)
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	idle, err := s.memory("VmRSS")
	if err != nil {
		return measured{}, err
	}
	// Writing 5 resets the peak of resident memory (VmHWM) to the current
	// value.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.command.Process.Pid), []byte("5"), 0); err != nil {
		return measured{}, err
	}
	if err := s.readList(ctx, p.rows); err != nil {
		return measured{}, err
	}
	peak, err := s.memory("VmHWM")
	if err != nil {
		return measured{}, err
	}
	return measured{
		ratio: peak - idle, atMost: true,
		ours: fmt.Sprintf("%.0f MiB for %d rows", peak, p.rows), raw: fmt.Sprintf("%.0f MiB idle", idle),
	}, nil
}

// longList starts a server on a database with many accounts, half of them
// imported. The rows are inserted directly.
func (m *harness) longList(ctx context.Context, name string, rows int) (*service, string, error) {
	database, err := m.freshPostgres(ctx, name)
	if err != nil {
		return nil, "", err
	}
	s, err := m.start(ctx, database)
	if err != nil {
		return nil, "", err
	}
	err = m.psql(ctx, database, `INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, account_number, account_created_at)
		SELECT (SELECT id FROM supplier), 'EXT-' || n, CASE n % 2 WHEN 0 THEN 'staged' ELSE 'imported' END, 1, '\x00', 1700000000000000 + n, 1700000000000000 + n,
			CASE n % 2 WHEN 1 THEN 'A-' || n END, CASE n % 2 WHEN 1 THEN 1700000000000000 + n END
		FROM generate_series(1, `+strconv.Itoa(rows)+`) n`, `VACUUM ANALYZE process`)
	if err != nil {
		s.stop()
	}
	return s, database, err
}

// readList counts entries without keeping them: otherwise the client's memory
// would be measured.
func (s *service) readList(ctx context.Context, rows int) error {
	answer, err := s.get(ctx, listPath)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	count := &lineCounter{}
	if _, err := io.Copy(count, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || count.entries != rows {
		return fmt.Errorf("the list answered %s with %d entries, not %d", answer.Status, count.entries, rows)
	}
	return nil
}

// lineCounter counts the objects that are written to it.
type lineCounter struct{ entries int }

// Write counts the starts of objects. Entries contain no nested objects.
func (c *lineCounter) Write(chunk []byte) (int, error) {
	c.entries += bytes.Count(chunk, []byte{'{'})
	return len(chunk), nil
}
