package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// The cost of checking a password: 19 MiB and two passes, the recommended minimum
// for argon2id. At most passwordsAtOnce are checked at a time, so that guessing
// cannot use up memory or processors.
const (
	passwordMemory  = 19 << 10 // KiB
	passwordPasses  = 2
	passwordLength  = 32
	passwordSalt    = 16
	passwordsAtOnce = 2
)

// The shortest and longest passwords. The upper limit keeps callers from having
// megabytes hashed.
const (
	MinPasswordLength = 12
	MaxPasswordLength = 256
)

// passwords hashes and checks passwords, a few at a time.
type passwords struct{ turns chan struct{} }

func newPasswords() passwords { return passwords{make(chan struct{}, passwordsAtOnce)} }

// enter waits for a turn.
func (p passwords) enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.turns <- struct{}{}:
		return func() { <-p.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hash returns what is stored of a password: the algorithm and its parameters, the
// salt and the hash.
func (p passwords) hash(ctx context.Context, password string) (string, error) {
	leave, err := p.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	salt := make([]byte, passwordSalt)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, passwordPasses, passwordMemory, 1, passwordLength)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, passwordMemory, passwordPasses, encode(salt), encode(key)), nil
}

// dummyHash is checked for unknown names, so that they take as long as known ones
// and cannot be told apart.
const dummyHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// check reports whether a password is the one that was hashed.
func (p passwords) check(ctx context.Context, kept, password string) (bool, error) {
	if utf8.RuneCountInString(password) > MaxPasswordLength {
		return false, nil
	}
	leave, err := p.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	var memory, passes uint32
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, errors.New("a stored password has an unknown format")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=1", &memory, &passes); err != nil || memory > 1<<20 || passes == 0 || passes > 64 {
		return false, errors.New("a stored password has unknown cost parameters")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, err
	}
	key, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, err
	}
	given := argon2.IDKey([]byte(password), salt, passes, memory, 1, passwordLength)
	return subtle.ConstantTimeCompare(given, key) == 1, nil
}
