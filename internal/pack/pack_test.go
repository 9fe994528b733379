package pack_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"landfall/internal/pack"
)

// sample is an account of about two kilobytes that the dictionary was not made
// from.
func sample(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/account.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatIsPackedComesBackByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := []byte(rapid.OneOf(rapid.String(), rapid.Map(rapid.String(), func(text string) string {
			return `{"a": "` + strings.Repeat(text, 50) + `"}`
		})).Draw(t, "document"))
		if len(document) > 0 && document[0] < ' ' {
			t.Skip("no JSON begins so")
		}
		kept, err := pack.Pack(document)
		if err != nil {
			t.Fatal(err)
		}
		back, err := pack.Unpack(kept)
		if err != nil || !bytes.Equal(back, document) {
			t.Fatalf("got %q, %v", back, err)
		}
		if len(kept) > len(document) {
			t.Fatalf("%d bytes became %d", len(document), len(kept))
		}
	})
}

func TestAccountsBecomeMuchSmaller(t *testing.T) {
	document := sample(t)
	kept, err := pack.Pack(document)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes became %d", len(document), len(kept))
	if len(kept)*3 > len(document) {
		t.Errorf("%d bytes became %d", len(document), len(kept))
	}
}

// TestKeptBeforeStaysReadable reads a document that was packed when the first
// dictionary was made: a changed dictionary would lose every one of them.
func TestKeptBeforeStaysReadable(t *testing.T) {
	kept, err := os.ReadFile("testdata/account-1.packed")
	if err != nil {
		t.Fatal(err)
	}
	back, err := pack.Unpack(kept)
	if err != nil || !bytes.Equal(back, sample(t)) {
		t.Errorf("got %q, %v", back, err)
	}
}

func TestDamageIsAnError(t *testing.T) {
	kept, err := pack.Pack(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := pack.Unpack(kept[:len(kept)/2]); err == nil {
		t.Errorf("half of it is %q", back)
	}
}

func BenchmarkPack(b *testing.B) {
	document := sample(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pack.Pack(document); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	kept, err := pack.Pack(sample(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pack.Unpack(kept); err != nil {
			b.Fatal(err)
		}
	}
}
