package auth

import (
	"testing"
	"time"
)

// These are the test vectors of RFC 6238, appendix B, for SHA-1 and eight digits.
func TestSecondFactorComputesTheCodesOfItsStandard(t *testing.T) {
	secret := []byte("12345678901234567890")
	for at, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		if got := totpCode(secret, at/30, 8); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
	}
}

// A code is valid in its own 30-second step and the adjacent ones, and only once.
func TestSecondFactorTakesACodeOnce(t *testing.T) {
	secret, now := newTOTPSecret(), time.Unix(1_700_000_000, 0)
	key, err := totpAlphabet.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	current := now.Unix() / 30
	for step, good := range map[int64]bool{current - 2: false, current - 1: true, current: true, current + 1: true, current + 2: false} {
		used, right := checkTOTP(secret, totpCode(key, step, totpDigits), 0, now)
		if right != good || right && used != step {
			t.Errorf("step %d from now: %t", step-current, right)
		}
	}
	if _, right := checkTOTP(secret, totpCode(key, current, totpDigits), current, now); right {
		t.Error("a code was accepted twice")
	}
	spaced := totpCode(key, current, totpDigits)
	if _, right := checkTOTP(secret, " "+spaced[:3]+" "+spaced[3:], 0, now); !right {
		t.Error("a code with blanks, as apps show it, was refused")
	}
	for _, wrong := range []string{"", "12345", "1234567", "abcdef"} {
		if _, right := checkTOTP(secret, wrong, 0, now); right {
			t.Errorf("%q was accepted", wrong)
		}
	}
}
