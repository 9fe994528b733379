package importer

import "crypto/sha256"

// accountSet remembers accounts that do not exist because they failed, by half a
// SHA-256 each: a book can fail whole.
type accountSet map[[16]byte]struct{}

// accountHash puts a byte between the two that no valid one has, so that no two
// accounts are hashed as the same text.
func accountHash(supplier, external string) [16]byte {
	sum := sha256.Sum256([]byte(supplier + "\x00" + external))
	return [16]byte(sum[:16])
}

func (l accountSet) add(supplier, external string) { l[accountHash(supplier, external)] = struct{}{} }

func (l accountSet) has(supplier, external string) bool {
	_, is := l[accountHash(supplier, external)]
	return is
}
