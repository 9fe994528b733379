package httpapi

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
)

// requestID keeps a client's own id when it is sane, so that both sides can
// search their logs for the same word; anything else is replaced. Ids are no
// secrets, so a fast generator will do, and they are kept with all that is
// written: eighty bits are enough to tell requests apart and take half the room
// of what is usual.
func requestID(sent []string) string {
	if len(sent) == 1 && validID(sent[0]) {
		return sent[0]
	}
	var raw [10]byte
	binary.NativeEndian.PutUint64(raw[:8], rand.Uint64())         //nolint:gosec // an id is no secret
	binary.NativeEndian.PutUint16(raw[8:], uint16(rand.Uint64())) //nolint:gosec // likewise
	return idEncoding.EncodeToString(raw[:])
}

// idEncoding are those that nobody mixes up with figures when reading aloud.
var idEncoding = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// validID lets through what can stand in a log, a header and an address without being escaped.
func validID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
