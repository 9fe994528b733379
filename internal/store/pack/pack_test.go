package pack_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"landfall/internal/store/pack"
)

// sample returns an account of about two kilobytes that the dictionary was not
// made from.
func sample(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/account.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPackRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := []byte(rapid.OneOf(rapid.String(), rapid.StringN(8100, 8200, -1), rapid.Map(rapid.String(), func(text string) string {
			return `{"a": "` + strings.Repeat(text, 50) + `"}`
		})).Draw(t, "document"))
		if len(document) > 0 && document[0] < ' ' {
			t.Skip("valid JSON begins like a sealed value")
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

// TestEarlierFormatsStayReadable reads documents that were packed when the
// dictionary and the pattern were made. Changing either would lose all stored
// documents.
func TestEarlierFormatsStayReadable(t *testing.T) {
	for _, name := range []string{"account-1.packed", "account-2.packed"} {
		kept, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		back, err := pack.Unpack(kept)
		if err != nil || !bytes.Equal(back, sample(t)) {
			t.Errorf("%s is %q, %v", name, back, err)
		}
	}
}

// TestEveryLengthRoundTrips packs all prefixes of a document that is too long for
// the short format, to test both formats and the border between them.
func TestEveryLengthRoundTrips(t *testing.T) {
	long := bytes.Repeat(sample(t), 5)
	for length := range long {
		kept, err := pack.Pack(long[:length])
		if err != nil {
			t.Fatal(err)
		}
		if back, err := pack.Unpack(kept); err != nil || !bytes.Equal(back, long[:length]) {
			t.Fatalf("%d bytes came back as %q, %v", length, back, err)
		}
	}
}

// TestDamageDoesNotPanic changes and truncates packed documents. Whatever the
// result, it must not be longer than a short document can be, and other
// documents must not be affected.
func TestDamageDoesNotPanic(t *testing.T) {
	kept, err := pack.Pack(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		damaged := bytes.Clone(kept[:rapid.IntRange(1, len(kept)).Draw(t, "length")])
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
		}
		damaged[0] = kept[0]
		if back, err := pack.Unpack(damaged); err == nil && len(back) > 1<<16 {
			t.Fatalf("%d bytes came back", len(back))
		}
	})
	again, err := pack.Unpack(kept)
	if err != nil || !bytes.Equal(again, sample(t)) {
		t.Errorf("afterwards %q, %v", again, err)
	}
}

func TestDamageIsAnError(t *testing.T) {
	kept, err := pack.Pack(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := pack.Unpack(kept[:len(kept)/2]); err == nil {
		t.Errorf("part of it is %q", back)
	}
}

// TestDocumentsDoNotMix packs and unpacks many accounts concurrently, with
// damaged ones between them, in workspaces that are reused.
func TestDocumentsDoNotMix(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			accounts := newGenerator(uint64(worker))
			for range 300 {
				document := accounts.account()
				kept, err := pack.Pack(document)
				if err != nil {
					t.Error(err)
					return
				}
				if half, err := pack.Unpack(kept[:1+len(kept)/2]); err == nil {
					t.Errorf("part of it is %q", half)
				}
				if back, err := pack.Unpack(kept); err != nil || !bytes.Equal(back, document) {
					t.Errorf("%q came back as %q, %v", document, back, err)
				}
			}
		})
	}
	group.Wait()
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
