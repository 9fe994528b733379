package seal

import (
	"encoding/base64"
	"strings"
)

// A text column cannot store arbitrary bytes. There a sealed value is mark and
// base64. A text in the clear that begins with mark is stored with plainMark in
// front of it, whether there is a key or not, so that no text can pass for a
// sealed value. In a JSON column a sealed value is a JSON string, and values in
// the clear are objects and arrays.
const (
	mark      = "⟦"
	plainMark = mark + "~" // no character of base64
)

var spelling = base64.RawURLEncoding

// PlainText returns a text as it is stored without a key.
func PlainText(text string) string {
	if strings.HasPrefix(text, mark) {
		return plainMark + text
	}
	return text
}

// ReadPlain returns a text that was stored without a key. It returns ErrNoKey if
// the text is sealed.
func ReadPlain(kept string) (string, error) {
	if !strings.HasPrefix(kept, mark) {
		return kept, nil
	}
	if text, plain := strings.CutPrefix(kept, plainMark); plain {
		return text, nil
	}
	return "", ErrNoKey
}

// SealText is Seal for a text column. An empty text stays empty: that a value is
// unknown is no secret.
func (v *Sealer) SealText(place Location, text string) string {
	if text == "" {
		return ""
	}
	return spell(v.Seal(place, []byte(text)))
}

// MatchText is Match for a text column.
func (v *Sealer) MatchText(place Location, text string) string { return v.MatchTexts(place, text)[0] }

// MatchTexts is Matches for a text column.
func (v *Sealer) MatchTexts(place Location, text string) []string {
	if text == "" {
		return []string{""}
	}
	var all []string
	for _, kept := range v.Matches(place, []byte(text)) {
		all = append(all, spell(kept))
	}
	return all
}

// SealJSON is Seal for a JSON column.
func (v *Sealer) SealJSON(place Location, text string) string {
	return `"` + spell(v.Seal(place, []byte(text))) + `"`
}

// OpenText opens a value of a text column, as Open does.
func (v *Sealer) OpenText(place Location, kept string) (string, error) {
	if plain, err := ReadPlain(kept); err == nil {
		return v.plain(plain)
	}
	return v.openSpelled(place, kept)
}

// OpenJSON opens a value of a JSON column, as Open does.
func (v *Sealer) OpenJSON(place Location, kept string) (string, error) {
	if !strings.HasPrefix(kept, `"`) {
		return v.plain(kept)
	}
	return v.openSpelled(place, strings.TrimSuffix(kept[1:], `"`))
}

// plain returns a text in the clear, unless such texts are refused.
func (v *Sealer) plain(text string) (string, error) {
	if v.whole.Load() && text != "" {
		return "", ErrPlain
	}
	return text, nil
}

// openSpelled opens a text that must be sealed.
func (v *Sealer) openSpelled(place Location, kept string) (string, error) {
	sealed, err := unspell(kept)
	if err != nil {
		return "", err
	}
	text, err := v.open(place, sealed) // the nonce is no constant: it stands in front of what was sealed with it
	return string(text), err
}

// IsCurrentText is IsCurrent for a text column, IsCurrentJSON for a JSON column.
func (v *Sealer) IsCurrentText(kept string) bool {
	if kept == "" {
		return true
	}
	sealed, err := unspell(kept)
	return err == nil && len(sealed) > 0 && v.IsCurrent(sealed)
}

// IsCurrentJSON is IsCurrent for a JSON column.
func (v *Sealer) IsCurrentJSON(kept string) bool {
	return kept == "" || strings.HasPrefix(kept, `"`) && v.IsCurrentText(strings.Trim(kept, `"`))
}

// TextLength returns how many bytes were sealed in a text of so many characters.
func TextLength(characters int) int {
	return max(0, spelling.DecodedLen(characters-1)-overhead)
}

// SealedLength returns how many characters a text of so many bytes has when it
// is sealed.
func SealedLength(bytes int) int { return 1 + spelling.EncodedLen(overhead+bytes) }

func spell(sealed []byte) string { return mark + spelling.EncodeToString(sealed) }

// unspell returns the sealed value that a text contains.
func unspell(kept string) ([]byte, error) {
	text, marked := strings.CutPrefix(kept, mark)
	sealed, err := spelling.DecodeString(text)
	if !marked || err != nil {
		return nil, ErrAltered
	}
	return sealed, nil
}
