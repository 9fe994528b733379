package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 and every app that shows its codes use it
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The second factor: time-based one-time passwords of six digits (RFC 6238).
const (
	totpStep   = 30 * time.Second
	totpDigits = 6
	// totpSecretBytes is the length of a secret. A shorter one is never right.
	totpSecretBytes = 20
	// totpSkew is how many steps a clock may be off.
	totpSkew = 1
)

var totpAlphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// newTOTPSecret creates the secret of a second factor, of 160 bits.
func newTOTPSecret() string {
	secret := make([]byte, totpSecretBytes)
	_, _ = rand.Read(secret) // never fails
	return totpAlphabet.EncodeToString(secret)
}

// TOTPURL returns the otpauth URL that authenticator apps read.
func TOTPURL(name, secret string) string {
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/Landfall:" + name, RawQuery: url.Values{
		"secret": {secret}, "issuer": {"Landfall"},
	}.Encode()}).String()
}

// checkTOTP reports whether a code is right, and its step. Codes up to the last
// accepted step are not accepted again.
func checkTOTP(secret, code string, last int64, now time.Time) (step int64, right bool) {
	key, err := totpAlphabet.DecodeString(secret)
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	if err != nil || len(key) < totpSecretBytes || len(code) != totpDigits {
		return 0, false
	}
	current := now.Unix() / int64(totpStep/time.Second)
	for step := current - totpSkew; step <= current+totpSkew; step++ {
		if step > last && subtle.ConstantTimeCompare([]byte(totpCode(key, step, totpDigits)), []byte(code)) == 1 {
			return step, true
		}
	}
	return 0, false
}

// totpCode computes the code of a step.
func totpCode(key []byte, step int64, digits int) string {
	sum := hmac.New(sha1.New, key)
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(step))) //nolint:gosec // steps are positive
	hash := sum.Sum(nil)
	offset := hash[len(hash)-1] & 15
	number := binary.BigEndian.Uint32(hash[offset:]) & 0x7fffffff
	modulus := uint32(1)
	for range digits {
		modulus *= 10
	}
	return fmt.Sprintf("%0*d", digits, number%modulus)
}
