package importer

import "crypto/sha256"

// accountSet is a set of failed accounts, stored as half a SHA-256 each, because all accounts of a
// book may fail.
type accountSet map[[16]byte]struct{}

// accountHash separates both parts with a byte that neither contains.
func accountHash(supplier, external string) [16]byte {
	sum := sha256.Sum256([]byte(supplier + "\x00" + external))
	return [16]byte(sum[:16])
}

func (l accountSet) add(supplier, external string) { l[accountHash(supplier, external)] = struct{}{} }

func (l accountSet) has(supplier, external string) bool {
	_, is := l[accountHash(supplier, external)]
	return is
}
