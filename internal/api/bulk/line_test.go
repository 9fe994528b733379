package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// The lines do not depend on how the body is split into reads.
func TestLinesAreSplitAtAnyReadBoundary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 40
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "{}", "\n", "\r\n", " ", strings.Repeat("x", limit-1), strings.Repeat("y", 3*limit)}).Draw(t, "part")
		}), 0, 30).Draw(t, "parts")
		body := strings.Join(parts, "")
		var want []string
		for line := range strings.Lines(body) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if len(line) > limit {
				line = "(long)"
			}
			want = append(want, line)
		}
		source := io.Reader(strings.NewReader(body))
		if rapid.Bool().Draw(t, "slow") {
			source = iotest.OneByteReader(source)
		}
		if rapid.Bool().Draw(t, "the end comes with data") {
			source = iotest.DataErrReader(source)
		}
		cutter := lineReader{source: source, limit: limit, reserve: func() (func(), error) { return func() {}, nil }}
		var got []string
		for {
			line, err := cutter.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if line.number != int64(len(got)+1) {
				t.Fatalf("line %d is called %d", len(got)+1, line.number)
			}
			text := string(line.text)
			if line.tooLong {
				text = "(long)"
			}
			got = append(got, text)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// A line that breaks off is not returned.
func TestMalformedLineIsRejected(t *testing.T) {
	gone := errors.New("the line is dead")
	cutter := lineReader{source: io.MultiReader(strings.NewReader("{}\n{\"a\":"), iotest.ErrReader(gone)), limit: 100}
	if line, err := cutter.next(); err != nil || string(line.text) != "{}" {
		t.Fatalf("got %q, %v", line.text, err)
	}
	if line, err := cutter.next(); !errors.Is(err, gone) {
		t.Errorf("got %q, %v", line.text, err)
	}
}

// Reading more lines does not overwrite earlier ones.
func TestLinesAreNotOverwritten(t *testing.T) {
	var body bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&body, "line %d %s\n", i, strings.Repeat("-", i%100))
	}
	cutter := lineReader{source: &body, limit: 1 << 20}
	var kept [][]byte
	for {
		line, err := cutter.next()
		if err != nil {
			break
		}
		kept = append(kept, line.text)
	}
	for i, line := range kept {
		if want := fmt.Sprintf("line %d %s", i, strings.Repeat("-", i%100)); string(line) != want {
			t.Fatalf("line %d became %q", i, line)
		}
	}
	if len(kept) != 50_000 {
		t.Errorf("%d lines", len(kept))
	}
}

// A long line reserves a slot. A line over the limit frees it and is never
// stored.
func TestLongLinesNeedASlot(t *testing.T) {
	taken, given := 0, 0
	cutter := lineReader{
		source: strings.NewReader(strings.Repeat("x", 400<<10) + "\n" + strings.Repeat("y", 64<<20) + "\nlast"), limit: 1 << 20,
		reserve: func() (func(), error) { taken++; return func() { given++ }, nil },
	}
	first, err := cutter.next()
	if err != nil || len(first.text) != 400<<10 || taken != 1 || given != 0 {
		t.Fatalf("%d bytes, %v, %d taken, %d given back", len(first.text), err, taken, given)
	}
	first.free()
	second, err := cutter.next()
	if err != nil || !second.tooLong || taken != given || cap(cutter.chunk) > 4<<20 {
		t.Errorf("%v, %v, %d taken, %d given back, %d bytes held", second.tooLong, err, taken, given, cap(cutter.chunk))
	}
	if third, err := cutter.next(); err != nil || string(third.text) != "last" {
		t.Errorf("%q, %v", third.text, err)
	}
}
