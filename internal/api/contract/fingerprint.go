package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"landfall/internal/api/rules"
)

// Fingerprint returns the fingerprint of an account object: the SHA-256 of its
// canonical form (RFC 8785) in hexadecimal. White space, the order of members
// and the spelling of strings and numbers do not change it, so that any client
// can compute it from its own copy. Numbers are rounded to the precision of
// ECMAScript; AccountDifferences compares them exactly.
func Fingerprint(document []byte) (string, error) {
	buffer := formBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	form, err := rules.AppendCanonical((*buffer)[:0], document)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(form)
	if cap(form) <= maxFormBuffer {
		*buffer = form
		formBuffers.Put(buffer)
	}
	return hex.EncodeToString(sum[:]), nil
}

var formBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxFormBuffer is the largest buffer that is kept for the next document.
const maxFormBuffer = 64 << 10
