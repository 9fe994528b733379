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

// storedAccounts is how many are staged to see what they take on the disk.
const storedAccounts = 20_000

// measureStored compares what a staged account takes on the disk, with all its
// indexes, with the bytes that were sent. The accounts differ as people do: the
// same document over and over would be made smaller than life.
func measureStored(ctx context.Context, _ plan, m *machinery, s *service) (result, error) {
	before, writtenBefore, err := m.disk(ctx, s, s.database)
	if err != nil {
		return result{}, err
	}
	// Bodies are made before anything is sent, and their length is what was really sent.
	sent := 0
	bodies := make([][]byte, storedAccounts)
	for i := range bodies {
		bodies[i] = variedAccount(int64(i))
		sent += len(bodies[i])
	}
	staging := s.load(stagePath, func(n int64, dst []byte) []byte { return append(dst, bodies[n-1]...) })
	staging.most = storedAccounts
	if _, err := staging.run(ctx, time.Minute); err != nil {
		return result{}, err
	}
	// The log is worked off on both sides of the staging: else the difference would be of the log
	// and not of the tables.
	after, writtenAfter, err := m.disk(ctx, s, s.database)
	if err != nil {
		return result{}, err
	}
	each := func(bytes float64) float64 { return bytes / storedAccounts }
	return result{
		ratio: (after - before) / float64(sent), atMost: true,
		ours: fmt.Sprintf("%.0f bytes on disk, %.0f through the log", each(after-before), each(writtenAfter-writtenBefore)),
		raw:  fmt.Sprintf("%.0f bytes of JSON", each(float64(sent))),
	}, nil
}

// disk gives how many bytes a database takes when its log has been worked off,
// and how many were ever written into that log; on SQLite these are all that
// the server wrote, since its log is used again and again.
func (m *machinery) disk(ctx context.Context, s *service, database string) (size, written float64, err error) {
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
	// VACUUM takes away what was replaced, which is not what an account takes.
	if err := m.psql(ctx, database, "VACUUM", "CHECKPOINT"); err != nil {
		return 0, 0, err
	}
	if size, err = m.ask(ctx, database, "SELECT pg_database_size(current_database())"); err != nil {
		return 0, 0, err
	}
	written, err = m.ask(ctx, database, "SELECT pg_current_wal_lsn() - '0/0'")
	return size, written, err
}

// written is how many bytes the server has ever written to files and sockets.
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

// variedAccount is an account of the usual shape whose names, places, numbers
// and days are its own.
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
	return bytes.Clone([]byte(varied.Replace(string(account(n, nil)))))
}
