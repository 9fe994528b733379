package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"landfall/internal/store/seal"
)

var (
	one, other = seal.NewKey(), seal.NewKey()
	secret     = seal.NewSecret()
	place      = seal.NewLocation("customer", "email").In(int64(7), int64(1))
	elsewhere  = []seal.Location{
		seal.NewLocation("customer", "email").In(int64(8), int64(1)),
		seal.NewLocation("customer", "email").In(int64(7), int64(2)),
		seal.NewLocation("customer", "email").In(int64(7)),
		seal.NewLocation("customer", "email").In("7", int64(1)),
		seal.NewLocation("customer", "mobile").In(int64(7), int64(1)),
		seal.NewLocation("address", "email").In(int64(7), int64(1)),
		seal.NewLocation("customere", "mail").In(int64(7), int64(1)),
	}
)

const text = "zoe@example.org"

// TestSealedValueOpensOnlyInItsLocation tries to open a value in other locations.
// If that worked, someone with write access to the database could show one
// person's data as another's.
func TestSealedValueOpensOnlyInItsLocation(t *testing.T) {
	v := seal.New([]seal.Key{one}, secret)
	for name, kept := range map[string]string{
		"sealed": v.SealText(place, text), "matched": v.MatchText(place, text), "JSON": strings.Trim(v.SealJSON(place, text), `"`),
	} {
		if strings.Contains(kept, "zoe") {
			t.Errorf("%s: %s can be read", name, kept)
		}
		if got, err := v.OpenText(place, kept); err != nil || got != text {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		for _, wrong := range elsewhere {
			if got, err := v.OpenText(wrong, kept); !errors.Is(err, seal.ErrAltered) {
				t.Errorf("%s: it opened elsewhere as %q, %v", name, got, err)
			}
		}
	}
}

// TestEveryAlteredBitIsDetected flips every bit of a sealed value. An altered
// value that still opened would go unnoticed.
func TestEveryAlteredBitIsDetected(t *testing.T) {
	v := seal.New([]seal.Key{one}, secret)
	for _, kept := range [][]byte{v.Seal(place, []byte(text)), v.Match(place, []byte(text))} {
		for bit := range 8 * len(kept) {
			altered := bytes.Clone(kept)
			altered[bit/8] ^= 1 << (bit % 8)
			if got, err := v.Open(place, altered); err == nil && string(got) == text {
				t.Errorf("altered bit %d was not detected", bit)
			}
		}
	}
}

// TestKeysAreRotated opens values with the old key, with both and with the new
// one. A value reported as current too early would be lost when the old key is
// dropped.
func TestKeysAreRotated(t *testing.T) {
	before := seal.New([]seal.Key{one}, secret)
	during := seal.New([]seal.Key{other, one}, secret)
	after := seal.New([]seal.Key{other}, secret)
	old, renewed := before.SealText(place, text), during.SealText(place, text)
	for _, kept := range []string{old, renewed} {
		if got, err := during.OpenText(place, kept); err != nil || got != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if during.IsCurrentText(old) || !during.IsCurrentText(renewed) || !before.IsCurrentText(old) || during.IsCurrentText(text) || !during.IsCurrentText("") {
		t.Error("IsCurrent is wrong")
	}
	if _, err := after.OpenText(place, old); !errors.Is(err, seal.ErrNoKey) || !strings.Contains(err.Error(), one.ID()) {
		t.Errorf("got %v, want the key's name", err)
	}
	// What is looked up has another form under each key, and both are known while
	// both keys are.
	forms := during.MatchTexts(place, text)
	if len(forms) != 2 || forms[0] != after.MatchText(place, text) || forms[1] != before.MatchText(place, text) || forms[0] == forms[1] {
		t.Errorf("got %q", forms)
	}
	digests := during.Digests("x", nil)
	if len(digests) != 2 || digests[0] != after.Digests("x", nil)[0] || digests[1] != before.Digests("x", nil)[0] || digests[0] == digests[1] {
		t.Errorf("got %v", digests)
	}
	if got, err := before.OpenText(place, forms[0]); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("the old key opens %q, %v", got, err)
	}
}

// TestMatchedValuesAreEqualOnlyInOneLocation compares the sealed forms of equal
// values. If they were equal in all locations, they would reveal who has the
// same name.
func TestMatchedValuesAreEqualOnlyInOneLocation(t *testing.T) {
	v := seal.New([]seal.Key{one}, secret)
	if once, again := v.SealText(place, text), v.SealText(place, text); once == again {
		t.Error("equal values were sealed alike")
	}
	kept := v.MatchText(place, text)
	if kept != v.MatchText(place, text) {
		t.Error("matched values differ")
	}
	for _, wrong := range elsewhere {
		if v.MatchText(wrong, text) == kept {
			t.Error("matched values are equal in another location")
		}
	}
	if seal.New([]seal.Key{one}, seal.NewSecret()).MatchText(place, text) == kept {
		t.Error("another database has the same digest")
	}
}

// TestPlainValuesAreReturnedUnchanged reads values written before there was a key.
// Some of them resemble sealed ones. Once everything is sealed, all are refused.
func TestPlainValuesAreReturnedUnchanged(t *testing.T) {
	v, strict := seal.New([]seal.Key{one}, secret), seal.New([]seal.Key{one}, secret)
	strict.RefusePlain()
	lookalike := v.SealText(place, text)
	for _, plain := range []string{"", text, "⟦", "⟦~", "⟦brackets⟧", `["a"]`, `"⟦"`, lookalike, `"` + lookalike + `"`} {
		kept := seal.PlainText(plain)
		if got, err := seal.ReadPlain(kept); err != nil || got != plain {
			t.Errorf("%q: read %q, %v", plain, got, err)
		}
		if got, err := v.OpenText(place, kept); err != nil || got != plain {
			t.Errorf("%q: got %q, %v", plain, got, err)
		}
		if got, err := strict.OpenText(place, kept); plain != "" && !errors.Is(err, seal.ErrPlain) {
			t.Errorf("%q: got %q, %v", plain, got, err)
		}
	}
	for _, plain := range [][]byte{nil, {1, 2}, []byte(`{"a":1}`)} {
		if got, err := v.Open(place, plain); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%q: got %q, %v", plain, got, err)
		}
		if got, err := strict.Open(place, plain); plain != nil && !errors.Is(err, seal.ErrPlain) {
			t.Errorf("%q: got %q, %v", plain, got, err)
		}
	}
	// What has the form of a sealed value is never taken for a text.
	for _, damaged := range []string{"⟦", "⟦x", "⟦brackets⟧", lookalike[:len(lookalike)-4], "⟦" + base64.RawURLEncoding.EncodeToString([]byte{0xE1, 1, 2})} {
		if got, err := v.OpenText(place, damaged); !errors.Is(err, seal.ErrAltered) {
			t.Errorf("%q: got %q, %v", damaged, got, err)
		}
		if _, err := seal.ReadPlain(damaged); !errors.Is(err, seal.ErrNoKey) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
	if v.SealText(place, "") != "" || v.MatchText(place, "") != "" {
		t.Error("nothing was sealed")
	}
}

// TestLengthWithoutOpening computes lengths from sealed texts: lists show
// them, and opening every note would cost too much.
func TestLengthWithoutOpening(t *testing.T) {
	v := seal.New([]seal.Key{one}, secret)
	for length := 1; length < 100; length++ {
		kept := v.SealText(place, strings.Repeat("x", length))
		if got := seal.TextLength(len([]rune(kept))); got != length || seal.SealedLength(length) != len([]rune(kept)) {
			t.Fatalf("%d: got %d, %d", length, got, seal.SealedLength(length))
		}
	}
}

// TestKeysAreRead reads keys that are truncated, duplicated or not keys at all.
// A weak key must be refused at startup, and the error must not contain it.
func TestKeysAreRead(t *testing.T) {
	spelled := []string{seal.NewKeyText(), hex.EncodeToString(one[:])}
	keys, err := seal.ReadKeys(spelled[0] + ", " + spelled[1])
	if err != nil || len(keys) != 2 || keys[1] != one {
		t.Fatalf("got %d, %v", len(keys), err)
	}
	if keys, err := seal.ReadKeys(""); len(keys) != 0 || err != nil {
		t.Errorf("got %v, %v", keys, err)
	}
	for _, wrong := range []string{"short", spelled[0] + ",", spelled[0] + "," + spelled[0], strings.Repeat("00", 32), spelled[0][1:]} {
		_, err := seal.ReadKeys(wrong)
		if err == nil {
			t.Errorf("%q was accepted", wrong)
		} else if slices.Contains(strings.Split(wrong, ","), err.Error()) || strings.Contains(err.Error(), spelled[0]) {
			t.Errorf("the key is repeated: %v", err)
		}
	}
}

// TestSecretIsWrapped seals the database's secret with a key. Without that key,
// Unwrap must return an error.
func TestSecretIsWrapped(t *testing.T) {
	record := seal.Record{Secret: secret, Whole: true}
	kept := seal.Wrap(one, record)
	if got, err := seal.Unwrap(one, kept); err != nil || got != record {
		t.Errorf("got %v", err)
	}
	if _, err := seal.Unwrap(other, kept); err == nil {
		t.Error("another key opens it")
	}
	if _, err := seal.Unwrap(one, secret[:]); err == nil {
		t.Error("a plain secret was accepted")
	}
}

func BenchmarkSeal(b *testing.B) {
	v := seal.New([]seal.Key{one}, secret)
	column := seal.NewLocation("customer", "email")
	for b.Loop() {
		v.SealText(column.In(int64(7), int64(1)), text)
	}
}

func BenchmarkMatch(b *testing.B) {
	v := seal.New([]seal.Key{one}, secret)
	for b.Loop() {
		v.MatchText(place, text)
	}
}
