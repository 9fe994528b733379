package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/store/sqlset"
)

// identifierTable contains the identifiers that should belong to one account
// only.
var identifierTable = newTable("account_identifier", "process_id bigint", "kind text", "ordinal bigint", "supplier_id bigint", "digest bigint",
	"value text", "from_on text", "to_on text")

// addIdentifiers adds the rows of a process's identifiers. Each kind is numbered
// from 1.
func (s *sealer) addIdentifiers(rows *sqlset.Rows, process, supplier int64, identifiers []landfall.Identifier) {
	rows.Grow(len(identifiers))
	last, kind := int64(0), landfall.IdentifierKind("")
	for i := range identifiers {
		one := &identifiers[i]
		if one.Kind == landfall.IdentifierExternalNumber {
			continue // the process has it
		}
		if one.Kind != kind {
			last, kind = 0, one.Kind
		}
		last++
		s.addIdentifier(rows, process, supplier, last, one)
	}
}

func (s *sealer) addIdentifier(rows *sqlset.Rows, process, supplier, ordinal int64, one *landfall.Identifier) {
	text := one.Text()
	rows.Add(process, string(one.Kind), ordinal, supplier, s.identifierDigests(one.Kind, text)[0], text, dayArg(one.FromOn), dayArg(one.ToOn))
}

// identifierDigests returns the digest under which an identifier is indexed,
// then those of the other keys, and the one used before there was a key, unless
// nothing is left from that time. Among ten million identifiers, two different ones
// have the same digest with a chance of one in three hundred thousand.
func (s *sealer) identifierDigests(kind landfall.IdentifierKind, text string) []int64 {
	named := []byte(string(kind) + "\x00" + text)
	var digests []int64
	if s != nil {
		for _, keyed := range s.Digests("identifier", named) {
			digests = append(digests, int64(binary.BigEndian.Uint64(keyed.Sum[:8]))) //nolint:gosec // the bits of an int64
		}
		if s.RefusesPlain() {
			return digests
		}
	}
	sum := sha256.Sum256(named)
	return append(digests, int64(binary.BigEndian.Uint64(sum[:8]))) //nolint:gosec // likewise
}

// deleteIdentifiers deletes the identifiers of processes whose document is
// replaced or removed.
func (t *tx) deleteIdentifiers(ctx context.Context, processes []int64) error {
	if len(processes) == 0 {
		return nil
	}
	these, list := sqlset.Among(t.engine, processes)
	_, err := t.exec(ctx, `DELETE FROM account_identifier WHERE process_id`+these, list)
	return err
}

// Identifiers returns the stored identifiers of a process.
func (v *view) Identifiers(ctx context.Context, key landfall.Key) ([]landfall.Identifier, error) {
	return collect(ctx, v.txSession, func(scan scanner, one *landfall.Identifier) error {
		var process, ordinal int64
		var kind, text string
		row := v.sealer.scan("account_identifier", &process, &kind, &ordinal)
		err := scan(&process, &kind, &ordinal, row.text("value", &text), dayInto{&one.FromOn}, dayInto{&one.ToOn})
		one.Kind = landfall.IdentifierKind(kind)
		one.Space, one.Value = splitIdentifier(text)
		return err
	}, `SELECT i.process_id, i.kind, i.ordinal, i.value, i.from_on, i.to_on FROM account_identifier i
		WHERE i.process_id = (SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2)
		ORDER BY i.kind, i.ordinal`, key.Supplier, key.External)
}

// splitIdentifier is the inverse of landfall.Identifier.Text.
func splitIdentifier(text string) (space, value string) {
	space, value, _ = strings.Cut(text, "\x1f")
	return space, value
}

// firstDay and lastDay stand for the ends of a period without a limit. Days are
// compared as texts.
const (
	firstDay = "0000-01-01"
	lastDay  = "9999-12-31"
)

// dayOr returns a day as the databases compare it.
func dayOr(on calendar.Day, otherwise string) string {
	if on.IsZero() {
		return otherwise
	}
	return on.String()
}
