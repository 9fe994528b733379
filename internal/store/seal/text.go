package seal

import (
	"encoding/base64"
	"strings"
)

// A text column cannot store arbitrary bytes. There a sealed value is written as
// mark and base64, and in a JSON column as a JSON string of that.
const mark = "⟦"

var spelling = base64.RawURLEncoding

// SealText is Seal for a text column. An empty text stays empty: that a value is
// unknown is no secret.
func (v *Sealer) SealText(place Location, text string) string {
	if text == "" {
		return ""
	}
	return spell(v.Seal(place, []byte(text)))
}

// MatchText is Match for a text column.
func (v *Sealer) MatchText(place Location, text string) string {
	if text == "" {
		return ""
	}
	return spell(v.Match(place, []byte(text)))
}

// SealJSON is Seal for a JSON column.
func (v *Sealer) SealJSON(place Location, text string) string {
	return `"` + spell(v.Seal(place, []byte(text))) + `"`
}

// OpenText returns a value that was sealed as text or JSON. Any other text is
// returned as it is.
func (v *Sealer) OpenText(place Location, kept string) (string, error) {
	sealed := read(kept)
	if sealed == nil {
		return kept, nil
	}
	text, err := v.Open(place, sealed) //nolint:gosec // the nonce is no constant: it stands in front of what was sealed with it
	return string(text), err
}

// IsCurrentText is IsCurrent for a text or JSON column. An empty text is always
// current.
func (v *Sealer) IsCurrentText(kept string) bool { return kept == "" || v.IsCurrent(read(kept)) }

// TextLength returns how many bytes were sealed in a text of so many characters.
func TextLength(characters int) int {
	return max(0, spelling.DecodedLen(characters-1)-overhead)
}

// SealedLength returns how many characters a text of so many bytes has when it
// is sealed.
func SealedLength(bytes int) int { return 1 + spelling.EncodedLen(overhead+bytes) }

func spell(sealed []byte) string { return mark + spelling.EncodeToString(sealed) }

// read returns the sealed value that a text contains, or nil if it contains
// none.
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

// IsSealed reports whether a value of any kind of column is sealed.
func (v *Sealer) IsSealed(kept []byte) bool { return FormOf(kept) != Bare || read(string(kept)) != nil }
