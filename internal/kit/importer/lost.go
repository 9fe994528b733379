package importer

import "crypto/sha256"

// lost remembers accounts that do not exist because they failed, by half a
// SHA-256 each: a book can fail whole.
type lost map[[16]byte]struct{}

// lostKey puts a byte between the two that no valid one has, so that no two
// accounts are hashed as the same text.
func lostKey(supplier, external string) [16]byte {
	sum := sha256.Sum256([]byte(supplier + "\x00" + external))
	return [16]byte(sum[:16])
}

func (l lost) add(supplier, external string) { l[lostKey(supplier, external)] = struct{}{} }

func (l lost) has(supplier, external string) bool {
	_, is := l[lostKey(supplier, external)]
	return is
}
