package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// mask replaces a secret in every output except Reveal.
const mask = "‹secret›"

// Secret is a text that must not be logged. Printing, formatting, logging or
// marshalling it shows a mask.
type Secret struct{ text string }

// Reveal returns the text itself.
func (s Secret) Reveal() string { return s.text }

// String returns the mask.
func (s Secret) String() string { return mask }

// Format writes the mask for every verb, %#v and %x included.
func (s Secret) Format(out fmt.State, _ rune) { _, _ = io.WriteString(out, mask) }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalText returns the mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// alphabet is base32 without letters that look alike, in lower case.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// secretLength is how many characters carry 256 bits.
const secretLength = 52

// random returns n characters with five random bits each. The random source never
// fails: the runtime ends the program instead.
func random(n int) string {
	bits := make([]byte, n)
	_, _ = rand.Read(bits)
	for i, b := range bits {
		bits[i] = alphabet[b&31]
	}
	return string(bits)
}

// inAlphabet reports whether a text consists of characters of the alphabet.
func inAlphabet(text string) bool {
	return strings.Trim(text, alphabet) == ""
}

// digest returns the hash that is stored instead of a secret.
func digest(text string) [32]byte { return sha256.Sum256([]byte(text)) }
