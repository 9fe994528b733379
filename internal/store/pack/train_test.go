package pack_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"landfall/internal/store/pack"
)

var pattern = flag.String("pattern", "", "write a new pattern to this file; one that is in use is never made again")

const samples = 4000

// TestGeneratedAccountsBecomeMuchSmaller packs accounts that the pattern was not
// made from. With -pattern it also makes a new pattern.
func TestGeneratedAccountsBecomeMuchSmaller(t *testing.T) {
	if *pattern != "" {
		train(t)
	}
	source := newGenerator(2)
	sent, kept := 0, 0
	for range 500 {
		document := source.account()
		packed, err := pack.Pack(document)
		if err != nil {
			t.Fatal(err)
		}
		back, err := pack.Unpack(packed)
		if err != nil || !bytes.Equal(back, document) {
			t.Fatalf("%s came back as %s, %v", document, back, err)
		}
		sent, kept = sent+len(document), kept+len(packed)
	}
	t.Logf("%d bytes became %d", sent, kept)
	if kept*3 > sent {
		t.Errorf("%d bytes became %d", sent, kept)
	}
}

func train(t *testing.T) {
	t.Helper()
	source := newGenerator(1)
	accounts := make([][]byte, samples)
	for i := range accounts {
		accounts[i] = source.account()
	}
	var text []byte
	for len(text) < pack.PatternLength {
		text = append(text, source.account()...)
	}
	text = text[len(text)-pack.PatternLength:]
	if err := os.WriteFile(*pattern, pack.MakePattern(text, accounts), 0o600); err != nil {
		t.Fatal(err)
	}
}
