package sqlstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/store/sqlset"
)

// identifierTable contains the identifiers that should belong to one account
// only.
var identifierTable = newTable("account_identifier", "process_id bigint", "ordinal bigint", "supplier_id bigint", "digest bigint",
	"value text", "from_on text", "to_on text")

// digestedIdentifier is an identifier with its text and the digests under which that
// may be indexed.
type digestedIdentifier struct {
	landfall.Identifier
	text    string
	digests []int64
}

// digestIdentifiers computes the digests of identifiers. It runs in the caller, before
// other calls wait for it.
func (s *sealer) digestIdentifiers(identifiers []landfall.Identifier) []digestedIdentifier {
	list := make([]digestedIdentifier, len(identifiers))
	for i := range identifiers {
		one, keyed := &list[i], s
		if one.Identifier, one.text = identifiers[i], identifiers[i].Text(); one.Kind == landfall.IdentifierExternalNumber {
			keyed = nil // it is not indexed, but locked, and one digest is enough for that
		}
		one.digests = keyed.identifierDigests(one.text)
	}
	return list
}

// addIdentifiers adds the rows of a process's identifiers.
func addIdentifiers(rows *sqlset.Rows, process, supplier int64, identifiers []digestedIdentifier) {
	rows.Grow(len(identifiers))
	last := int64(0)
	for i := range identifiers {
		if one := &identifiers[i]; one.Kind != landfall.IdentifierExternalNumber { // the process has the number
			last++
			addIdentifier(rows, process, supplier, last, one)
		}
	}
}

func addIdentifier(rows *sqlset.Rows, process, supplier, ordinal int64, one *digestedIdentifier) {
	rows.Add(process, ordinal, supplier, one.digests[0], one.text, dayArg(one.FromOn), dayArg(one.ToOn))
}

// identifierDigests returns the digest under which the text of an identifier is
// indexed, then those of the other keys, and the one used before there was a key,
// unless nothing is left from that time. Among ten million identifiers, two different
// ones have the same digest with a chance of one in three hundred thousand. Readers
// compare the texts as well.
func (s *sealer) identifierDigests(text string) []int64 {
	named := []byte(text)
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

// replaceIdentifiers prepares writing the identifiers of processes, some of which
// were staged again. It deletes the former ones. Where they did not change, it
// deletes nothing and leaves their rows out of those to write.
func (t *tx) replaceIdentifiers(ctx context.Context, restaged []int64, rows *sqlset.Rows) error {
	if len(restaged) == 0 {
		return nil
	}
	// All identifiers of a process as one text.
	before, after := make(map[int64][]byte, len(restaged)), make(map[int64][]byte, len(restaged))
	these, list := sqlset.Among(t.engine, restaged)
	_, err := collect(ctx, t.txSession, func(scan scanner, _ *struct{}) error {
		var process, digest int64
		var from, to sql.NullString
		err := scan(&process, &digest, &from, &to)
		before[process] = appendIdentifier(before[process], digest, from.String, to.String)
		return err
	}, `SELECT i.process_id, i.digest, i.from_on, i.to_on FROM account_identifier i WHERE i.process_id`+these+` ORDER BY i.process_id, i.ordinal`, list)
	if err != nil {
		return err
	}
	for row := range slices.Chunk(rows.Values, rows.Width()) {
		process, _ := row[0].(int64)
		digest, _ := row[3].(int64)
		from, _ := row[5].(string)
		to, _ := row[6].(string)
		after[process] = appendIdentifier(after[process], digest, from, to)
	}
	var changed []int64
	same := make(map[int64]bool, len(restaged))
	for _, process := range restaged {
		if same[process] = bytes.Equal(before[process], after[process]); !same[process] {
			changed = append(changed, process)
		}
	}
	kept := rows.Values[:0]
	for row := range slices.Chunk(rows.Values, rows.Width()) {
		if process, _ := row[0].(int64); !same[process] {
			kept = append(kept, row...)
		}
	}
	rows.Values = kept
	return t.deleteIdentifiers(ctx, changed)
}

func appendIdentifier(dst []byte, digest int64, from, to string) []byte {
	return append(strconv.AppendInt(dst, digest, 16), " "+from+" "+to+"\n"...)
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

// Identifiers returns the stored identifiers of a process. One with a wrong digest is
// left out: nothing finds it.
func (v *view) Identifiers(ctx context.Context, key landfall.Key) ([]landfall.Identifier, error) {
	found, err := collect(ctx, v.txSession, func(scan scanner, one *landfall.Identifier) error {
		var process, ordinal, digest int64
		var text string
		err := scan(&process, &ordinal, &digest, v.sealer.scan("account_identifier", &process, &ordinal).text("value", &text),
			dayInto{&one.FromOn}, dayInto{&one.ToOn})
		if slices.Contains(v.sealer.identifierDigests(text), digest) {
			one.SetText(text)
		}
		return err
	}, `SELECT i.process_id, i.ordinal, i.digest, i.value, i.from_on, i.to_on FROM account_identifier i
		WHERE i.process_id = (SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2)
		ORDER BY i.ordinal`, key.Supplier, key.External)
	return slices.DeleteFunc(found, func(one landfall.Identifier) bool { return one.Kind == "" }), err
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
