package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// mask is what a secret looks like wherever it was not asked for by name.
const mask = "‹secret›"

// Secret is a text that only its owner may see. Printing, formatting, logging
// or marshalling it shows a mask, so that no log line can hold it by accident.
type Secret struct{ text string }

// Reveal gives the text itself, for the one place that hands it over.
func (s Secret) Reveal() string { return s.text }

// String gives the mask.
func (s Secret) String() string { return mask }

// Format gives the mask for every verb, %#v and %x included.
func (s Secret) Format(out fmt.State, _ rune) { _, _ = io.WriteString(out, mask) }

// LogValue gives the mask to slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalText gives the mask to encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// alphabet is base32 without letters that look alike, in lower case.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// secretLength is how many characters carry 256 bits.
const secretLength = 52

// random gives n characters with five random bits each. The system's random
// source never fails: the runtime ends the program instead.
func random(n int) string {
	bits := make([]byte, n)
	_, _ = rand.Read(bits)
	for i, b := range bits {
		bits[i] = alphabet[b&31]
	}
	return string(bits)
}

// inAlphabet reports whether a text is written in the alphabet alone.
func inAlphabet(text string) bool {
	return strings.Trim(text, alphabet) == ""
}

// digest is what the store keeps instead of a secret.
func digest(text string) [32]byte { return sha256.Sum256([]byte(text)) }
