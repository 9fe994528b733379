package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"landfall"
	"landfall/internal/store/pack"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlset"
)

// sealer seals the columns that the registry declares personal when they are
// written, and opens them when they are read. A nil sealer stores everything in
// the clear.
type sealer struct {
	*seal.Sealer
	secret    seal.Secret // of the database
	withNames bool        // whether names are indexed for the search
}

// sealedColumn says how a column is sealed in rows that are written together.
type sealedColumn struct {
	at       int // index of the column in a row
	location seal.Location
	form     sealForm
	json     bool
	row      []int // indexes of the columns that identify the row
}

// encryptedColumns returns which columns of a table are sealed. A column that
// is bound to values outside the row is sealed by the code that writes it.
func encryptedColumns(of *sqlset.Table) (seals []sealedColumn) {
	table := of.Name()
	names, kinds := of.Columns()
	for at, name := range names {
		one := tableRules[table].columns[name]
		if one.form != formSealed && one.form != formMatched {
			continue
		}
		made := sealedColumn{at: at, location: seal.NewLocation(table, name), form: one.form, json: kinds[at] == "json"}
		for _, known := range tableRules[table].rowOf(one) {
			made.row = append(made.row, slices.Index(names, known))
		}
		if !slices.Contains(made.row, -1) {
			seals = append(seals, made)
		}
	}
	return seals
}

// rowOf returns the columns that a column's values are bound to.
func (h tableRule) rowOf(one columnRule) []string {
	switch {
	case one.row != nil:
		return one.row
	case h.row != nil:
		return h.row
	}
	names := make([]string, len(h.key))
	for i, column := range h.key {
		names[i], _, _ = strings.Cut(column, " ")
	}
	return names
}

// sealRows seals rows that are about to be written. It also refuses texts that
// could not be stored in the clear: that must not depend on a key.
func (s *sealer) sealRows(p *sqlset.Rows) error {
	seals := sealedColumns[p.Table]
	if len(seals) == 0 {
		return nil
	}
	width := p.Width()
	if s == nil {
		for row := range slices.Chunk(p.Values, width) {
			for i := range seals {
				// No text may pass for a sealed one later.
				if text, is := row[seals[i].at].(string); is && !seals[i].json {
					row[seals[i].at] = seal.PlainText(text)
				}
			}
		}
		return nil
	}
	for row := range slices.Chunk(p.Values, width) {
		for i := range seals {
			one := &seals[i]
			text, is := row[one.at].(string)
			if !is || text == "" {
				continue // an empty value is no secret
			}
			if !storable(text) {
				return errUnstorable
			}
			known := make([]any, len(one.row))
			for j, at := range one.row {
				known[j] = row[at]
			}
			row[one.at] = s.sealColumn(one, one.location.In(known...), text)
		}
	}
	return nil
}

// sealColumn seals a value in the form that its column needs. Matched values
// are sealed the same way every time, so that they can be looked up.
func (s *sealer) sealColumn(how *sealedColumn, place seal.Location, text string) string {
	switch {
	case how.form == formMatched:
		return s.MatchText(place, text)
	case how.json:
		return s.SealJSON(place, text)
	}
	return s.SealText(place, text)
}

// The locations of values that are sealed on their own. Documents and failures
// are bound to the key of their process.
var (
	documentLocation       = seal.NewLocation("staging", "document")
	hashLocation           = seal.NewLocation("process", "hash")
	processFailureLocation = seal.NewLocation("process", "failure")
	refusalLocation        = seal.NewLocation("refusal", "failure")
	refusedPersonLocation  = seal.NewLocation("refusal", "person")
	postingRefusalLocation = seal.NewLocation("posting_refusal", "failure")
	runFailureLocation     = seal.NewLocation("run_failure", "failure")
	totpSecretLocation     = seal.NewLocation("operator", "totp_secret")
	pendingSecretLocation  = seal.NewLocation("operator", "pending_secret")
	replyLocation          = seal.NewLocation("mail", "reply")
	targetReplyLocation    = seal.NewLocation("target_delivery", "reply")
	referenceLocation      = seal.NewLocation("instruction", "reference")
)

func (s *sealer) sealDocument(key landfall.Key, packed []byte) []byte {
	if s == nil {
		return packed
	}
	return s.Seal(documentLocation.In(key.Supplier, key.External), packed)
}

// sealHash returns the stored form of a document's hash. The same document of
// the same account always has the same one.
func (s *sealer) sealHash(key landfall.Key, hash *[32]byte) []byte {
	if s == nil {
		return hash[:]
	}
	return s.Match(hashLocation.In(key.Supplier, key.External), hash[:])
}

// noDocument is a hash that no document has.
var noDocument = [32]byte(slices.Repeat([]byte{0xFF}, 32))

// hashForms returns the stored forms of a hash other than the one that sealHash
// returns: those of the other keys, and the one from before there was a key. If
// that is refused, a form that no hash has takes its place.
func (s *sealer) hashForms(key landfall.Key, hash *[32]byte) [][]byte {
	forms := s.Matches(hashLocation.In(key.Supplier, key.External), hash[:])[1:]
	if s.RefusesPlain() {
		return append(forms, []byte{0})
	}
	return append(forms, hash[:])
}

// openHash returns the hash that sealHash stored. An altered hash becomes one
// that matches nothing, so that only its own document is affected.
func (s *sealer) openHash(key landfall.Key, kept []byte) [32]byte {
	if s == nil || len(kept) == 0 {
		return hashOf(kept)
	}
	hash, err := s.openHashIn(hashLocation.In(key.Supplier, key.External), kept)
	if err != nil || len(hash) != sha256.Size {
		return noDocument
	}
	return [32]byte(hash)
}

// openHashIn opens a hash. Its length says whether it is sealed: its bytes can be
// any.
func (s *sealer) openHashIn(place seal.Location, kept []byte) ([]byte, error) {
	switch {
	case len(kept) != sha256.Size:
		return s.Open(place, kept)
	case s.RefusesPlain():
		return nil, seal.ErrPlain
	}
	return kept, nil
}

// openDocument returns a document as it was sent.
func (s *sealer) openDocument(key landfall.Key, kept []byte, hash [32]byte) (document []byte, err error) {
	if s != nil {
		if kept, err = s.Open(documentLocation.In(key.Supplier, key.External), kept); err != nil {
			return nil, errors.Join(errAltered, err)
		}
	}
	if document, err = pack.Unpack(kept); err != nil {
		return nil, errors.Join(errAltered, err)
	}
	if sha256.Sum256(document) != hash {
		return nil, errAltered
	}
	return document, nil
}

// sealJSON seals a JSON text that is not part of a set of rows; nil stays nil.
func (s *sealer) sealJSON(place seal.Location, text any, row ...any) any {
	if plain, is := text.(string); is && s != nil {
		return s.SealJSON(place.In(row...), plain)
	}
	return text
}

// sealText seals a text that is not part of a set of rows.
func (s *sealer) sealText(place seal.Location, text string, row ...any) string {
	if s == nil {
		return seal.PlainText(text)
	}
	return s.SealText(place.In(row...), text)
}

// noteDigests returns the digest under which a note is indexed, then those of the
// other keys, and the one used before there was a key, unless nothing is left from
// that time. A digest is the beginning of the note's fingerprint, or of a keyed
// digest of the fingerprint. Equal digests of different notes do little harm,
// since the full fingerprints are compared afterwards: anyone who spent years to
// find a pair could at most have one of the notes twice on their own account.
func (s *sealer) noteDigests(n *landfall.Note) []int64 {
	fingerprint := n.Fingerprint()
	var digests []int64
	if s != nil {
		for _, keyed := range s.Digests("note", fingerprint[:]) {
			digests = append(digests, int64(binary.BigEndian.Uint64(keyed.Sum[:8]))) //nolint:gosec // the bits of an int64
		}
		if s.RefusesPlain() {
			return digests
		}
	}
	return append(digests, int64(binary.BigEndian.Uint64(fingerprint[:8]))) //nolint:gosec // likewise
}

// noteLength returns the length of a note, from its body if that was read, or
// else from its stored length.
func (s *sealer) noteLength(body string, kept int) int {
	switch {
	case body != "":
		return utf8.RuneCountInString(body)
	case s == nil:
		return kept
	}
	return seal.TextLength(kept)
}

// maxNoteLength is how many characters of a column are read for a page.
func (s *sealer) maxNoteLength() int64 {
	if s == nil {
		return landfall.MaxNoteBytes
	}
	return int64(seal.SealedLength(landfall.MaxNoteBytes))
}

// referenceForms returns the forms in which a reference of an account may be
// stored.
func (s *sealer) referenceForms(account int64, vendor, reference string) []string {
	plain := seal.PlainText(reference)
	if s == nil || reference == "" {
		return []string{plain}
	}
	forms := s.MatchTexts(referenceLocation.In(account, vendor), reference)
	if s.RefusesPlain() {
		return forms
	}
	return append(forms, plain)
}

// openText opens a value of a text or JSON column. What erasure and retention
// leave behind is never sealed.
func (s *sealer) openText(table, column string, json bool, place seal.Location, kept string) (text string, err error) {
	if json {
		text, err = s.OpenJSON(place, kept)
	} else {
		text, err = s.OpenText(place, kept)
	}
	if errors.Is(err, seal.ErrPlain) && isBlank(table, column, kept) {
		return kept, nil
	}
	return text, err
}
