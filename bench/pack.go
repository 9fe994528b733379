package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
)

// benchPack declares fields that double the size of an account.
const benchPack = `pack: bench
version: 1
description: Fields for a measurement
add:
  Account:
    loyalty_number: {type: line 12, description: Number on the loyalty card.}
    visits: list of Visit
objects:
  Visit:
    description: A visit to the property.
    fields:
      visited_on: {type: date, required: true}
      left_on: date
      reason: {type: choice, choices: [REPAIR, READING]}
      remark: text 200
rules:
  - {code: visit_ends_before_it_begins, kind: from_to, object: Visit, fields: [visited_on, left_on], description: A visit must not end before it begins.}
`

// packFields are fields of the pack, for the beginning of an account.
var packFields = []byte(`{"loyalty_number":"L-4711","visits":[` + string(bytes.Repeat([]byte(
	`{"visited_on":"2025-03-14","left_on":"2025-03-15","reason":"READING","remark":"The meter is behind the door."},`), 17)) +
	`{"visited_on":"2026-03-14"}],`)

// measurePack compares validating accounts with the fields of a pack with
// validating accounts without, byte by byte.
func measurePack(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	file := filepath.Join(m.folder, "bench-pack.yaml")
	if err := os.WriteFile(file, []byte(benchPack), 0o600); err != nil {
		return measured{}, err
	}
	for _, words := range [][]string{{"pack", "add", file}, {"supplier", "set", supplier, "--pack", "bench@1"}} {
		if _, err := m.tell(ctx, append(words, "--database", s.database)...); err != nil {
			return measured{}, err
		}
	}
	withFields := func(n int64, dst []byte) []byte {
		return append(append(dst, packFields...), appendAccount(n, nil)[1:]...)
	}
	validate := func(account func(int64, []byte) []byte) (sample, error) {
		found, err := s.load("/v1/data-import/validate-account/", account).run(ctx, p.length)
		found.rate *= float64(len(account(1, nil)))
		return found, err
	}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return validate(withFields) },
		func() (sample, error) { return validate(appendAccount) })
	return measured{ratio: ratio, ours: ours.of("bytes"), raw: raw.of("bytes without fields of a pack")}, err
}
