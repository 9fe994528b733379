package pack_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"landfall/internal/pack"
)

var dictionary = flag.String("dictionary", "", "write a new dictionary to this file; one that is in use is never made again")

const (
	samples = 4000
	history = 24 << 10 // what a document may refer back to
)

// TestGeneratedAccountsBecomeMuchSmaller packs accounts the dictionary was not
// made from; and it makes a dictionary when it is told to.
func TestGeneratedAccountsBecomeMuchSmaller(t *testing.T) {
	if *dictionary != "" {
		train(t)
	}
	source := newClerk(2)
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
	source := newClerk(1)
	accounts := make([][]byte, samples)
	for i := range accounts {
		accounts[i] = source.account()
	}
	// What stands at the end of the history is the cheapest to refer to: whole
	// accounts, of every kind the clerk writes.
	var common []byte
	for len(common) < history {
		common = append(common, source.account()...)
	}
	common = common[len(common)-history:]
	made, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID: 1, Contents: accounts, History: common, Offsets: [3]int{1, 4, 8}, Level: zstd.SpeedBestCompression,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*dictionary, made, 0o600); err != nil {
		t.Fatal(err)
	}
}
