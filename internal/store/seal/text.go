package seal

import (
	"encoding/base64"
	"strings"
)

// Columns of text cannot hold bytes: there a sealed value is spelled behind a
// mark, and where the database wants JSON it is a string of it.
const mark = "⟦"

var spelling = base64.RawURLEncoding

// SealText is Seal for a column of text. An empty text stays one: that something
// is not known is no secret.
func (v *Sealer) SealText(place Location, text string) string {
	if text == "" {
		return ""
	}
	return spell(v.Seal(place, []byte(text)))
}

// MatchText is Match for a column of text.
func (v *Sealer) MatchText(place Location, text string) string {
	if text == "" {
		return ""
	}
	return spell(v.Match(place, []byte(text)))
}

// SealJSON is Seal for a column of JSON.
func (v *Sealer) SealJSON(place Location, text string) string {
	return `"` + spell(v.Seal(place, []byte(text))) + `"`
}

// OpenText gives back what was sealed as text or JSON, and what was not as it is.
func (v *Sealer) OpenText(place Location, kept string) (string, error) {
	sealed := read(kept)
	if sealed == nil {
		return kept, nil
	}
	text, err := v.Open(place, sealed) //nolint:gosec // the nonce is no constant: it stands in front of what was sealed with it
	return string(text), err
}

// IsCurrentText is Current for what is kept as text or JSON. Nothing is always as
// it should be.
func (v *Sealer) IsCurrentText(kept string) bool { return kept == "" || v.IsCurrent(read(kept)) }

// TextLength gives how many bytes were sealed in a text of so many characters.
func TextLength(characters int) int {
	return max(0, spelling.DecodedLen(characters-1)-overhead)
}

// SealedLength gives how many characters a text of so many bytes is sealed in.
func SealedLength(bytes int) int { return 1 + spelling.EncodedLen(overhead+bytes) }

func spell(sealed []byte) string { return mark + spelling.EncodeToString(sealed) }

// read gives what was spelled, or nil when a text is none of ours.
func read(kept string) []byte {
	kept = strings.TrimSuffix(strings.TrimPrefix(kept, `"`), `"`)
	if !strings.HasPrefix(kept, mark) {
		return nil
	}
	sealed, err := spelling.DecodeString(kept[len(mark):])
	if err != nil || FormOf(sealed) == Bare {
		return nil
	}
	return sealed
}

// IsSealed says that a value, of whatever column, is sealed.
func (v *Sealer) IsSealed(kept []byte) bool { return FormOf(kept) != Bare || read(string(kept)) != nil }
