package httpapi

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
)

// requestID keeps a client's id if it is valid, so that both sides can search
// their logs for it. Otherwise it generates one. Ids are not secret, so a fast
// generator is enough. They are stored with every record; eighty bits identify
// requests and take half the usual space.
func requestID(sent []string) string {
	if len(sent) == 1 && validID(sent[0]) {
		return sent[0]
	}
	var raw [10]byte
	binary.NativeEndian.PutUint64(raw[:8], rand.Uint64())         //nolint:gosec // an id is no secret
	binary.NativeEndian.PutUint16(raw[8:], uint16(rand.Uint64())) //nolint:gosec // likewise
	return idEncoding.EncodeToString(raw[:])
}

// idEncoding avoids letters that look like digits.
var idEncoding = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// validID accepts ids that need no escaping in logs, headers and URLs.
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
