package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// storedAccounts is the number of accounts staged to measure their size on
// disk.
const storedAccounts = 20_000

// measureStored compares the size of staged accounts on disk, with all indexes,
// with the bytes that were sent. The accounts differ realistically: the same
// document repeated would compress too well.
func measureStored(ctx context.Context, _ plan, m *harness, s *service) (measured, error) {
	before, writtenBefore, err := m.disk(ctx, s, s.database)
	if err != nil {
		return measured{}, err
	}
	// Bodies are generated first, and their length is what is sent.
	sent := 0
	bodies := make([][]byte, storedAccounts)
	for i := range bodies {
		bodies[i] = variedAccount(int64(i))
		sent += len(bodies[i])
	}
	staging := s.load(stagePath, func(n int64, dst []byte) []byte { return append(dst, bodies[n-1]...) })
	staging.most = storedAccounts
	if _, err := staging.run(ctx, time.Minute); err != nil {
		return measured{}, err
	}
	// Checkpoint before and after staging: otherwise the difference would
	// include the log.
	after, writtenAfter, err := m.disk(ctx, s, s.database)
	if err != nil {
		return measured{}, err
	}
	each := func(bytes float64) float64 { return bytes / storedAccounts }
	return measured{
		ratio: (after - before) / float64(sent), atMost: true,
		ours: fmt.Sprintf("%.0f bytes on disk, %.0f through the log", each(after-before), each(writtenAfter-writtenBefore)),
		raw:  fmt.Sprintf("%.0f bytes of JSON", each(float64(sent))),
	}, nil
}

// disk returns the size of a database after a checkpoint and the number of
// bytes ever written to its log. For SQLite it counts all bytes the server
// wrote, because the log file is reused.
func (m *harness) disk(ctx context.Context, s *service, database string) (size, written float64, err error) {
	if file, ok := strings.CutPrefix(database, "sqlite:"); ok {
		if written, err = s.written(); err != nil {
			return 0, 0, err
		}
		if err := checkpoint(ctx, file); err != nil {
			return 0, 0, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return 0, 0, err
		}
		return float64(info.Size()), written, nil
	}
	// VACUUM removes replaced rows, which are not part of the size of an
	// account.
	if err := m.psql(ctx, database, "VACUUM", "CHECKPOINT"); err != nil {
		return 0, 0, err
	}
	if size, err = m.ask(ctx, database, "SELECT pg_database_size(current_database())"); err != nil {
		return 0, 0, err
	}
	written, err = m.ask(ctx, database, "SELECT pg_current_wal_lsn() - '0/0'")
	return size, written, err
}

// written returns the number of bytes that the server has written to files and
// sockets.
func (s *service) written() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("/proc says nothing about what was written")
}

// variedAccount returns an account with its own names, places, numbers and
// dates.
func variedAccount(n int64) []byte {
	// Seeded by the number, so that every run stores the same accounts.
	random := rand.New(rand.NewPCG(uint64(n), 20))
	word := func(length int) string {
		text := make([]byte, length)
		for i := range text {
			text[i] = "aeioulnrst"[random.IntN(10)]
		}
		return strings.ToUpper(string(text[:1])) + string(text[1:])
	}
	digits := func(length int) string {
		text := make([]byte, length)
		for i := range text {
			text[i] = byte('0' + random.IntN(10))
		}
		return string(text)
	}
	given, family, street := word(4+random.IntN(5)), word(5+random.IntN(6)), word(6+random.IntN(8))
	day := fmt.Sprintf("2024-%02d-%02d", 1+random.IntN(12), 1+random.IntN(28))
	varied := strings.NewReplacer(
		"Ada", given, "Lovelace", family, "ada.lovelace", strings.ToLower(given+"."+family), "Charles", word(6), "Babbage", word(7),
		"charles.babbage", strings.ToLower(word(6)), "St James's Square", street+" Road", "Westminster", word(9),
		"E12Z004521", "E"+digits(9), "G4A0088123", "G"+digits(9), "45210", "4"+digits(4), "DD-77120", "DD-"+digits(8),
		"1985-12-10", fmt.Sprintf("19%d-%02d-%02d", 40+random.IntN(60), 1+random.IntN(12), 1+random.IntN(28)),
		"2024-03-14", day, `"P-1"`, `"P-`+digits(9)+`"`,
	)
	return bytes.Clone([]byte(varied.Replace(string(appendAccount(n, nil)))))
}
