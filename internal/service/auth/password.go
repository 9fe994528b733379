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

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// The cost of checking a password: 19 MiB and two passes, the recommended minimum
// for argon2id.
const (
	passwordMemory = 19 << 10 // KiB
	passwordPasses = 2
	passwordLength = 32
	passwordSalt   = 16
)

// The shortest and longest passwords. The upper limit keeps callers from having
// megabytes hashed.
const (
	MinPasswordLength = 12
	MaxPasswordLength = 256
)

// passwords hashes and checks passwords, one at a time in each of two queues, so that
// guessing cannot use up memory or processors. In each queue, tenants take turns:
// networks among unknown callers, operators among known ones.
type passwords struct{ unknown, known *admission.Limiter }

func newPasswords() passwords {
	queue := admission.Limits{
		Capacity: 1, Wait: limits.PasswordWait, Waiting: limits.PasswordsWaiting, TenantWaiting: limits.PasswordsWaiting / 16,
		Refusal: &landfall.Error{
			Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: limits.PasswordWait,
			Detail: "Too many people are signing in. Wait a few seconds and try again.",
		},
	}
	return passwords{unknown: admission.NewLimiter(queue), known: admission.NewLimiter(queue)}
}

// turn is a place in one of the queues.
type turn struct {
	known  bool
	tenant string
}

// enter waits for a turn.
func (p passwords) enter(ctx context.Context, in turn) (leave func(), err error) {
	queue := p.unknown
	if in.known {
		queue = p.known
	}
	return queue.Acquire(ctx, admission.Request{Tenant: in.tenant})
}

// hash returns what is stored of a password: the algorithm and its parameters, the
// salt and the hash.
func (p passwords) hash(ctx context.Context, in turn, password string) (string, error) {
	leave, err := p.enter(ctx, in)
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
func (p passwords) check(ctx context.Context, in turn, kept, password string) (bool, error) {
	if utf8.RuneCountInString(password) > MaxPasswordLength {
		return false, nil
	}
	leave, err := p.enter(ctx, in)
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
