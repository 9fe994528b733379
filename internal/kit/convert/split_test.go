package convert

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// rowsOf reads a text in blocks of some size.
func rowsOf(t *testing.T, text string, size int, quote byte) (rows []string, simple int) {
	t.Helper()
	split := newSplitter(strings.NewReader(text), ';', quote)
	split.size = size
	for {
		b, err := split.next()
		if errors.Is(err, io.EOF) {
			return rows, simple
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.wrong != "" {
			rows = append(rows, fmt.Sprintf("%d: %s", b.line, b.wrong))
			continue
		}
		r := &records{delimiter: ';', quote: quote}
		r.reset(b)
		next := r.next
		if size > 1 && r.simple() { // with the quick reader where it can
			next = r.nextSimple
			simple++
		}
		for next() {
			rows = append(rows, fmt.Sprintf("%d: %q %s", r.at, r.fields, r.wrong))
		}
	}
}

// FuzzBlocks splits texts into blocks of many sizes. The rows and lines must be those of the whole
// text.
func FuzzBlocks(f *testing.F) {
	for _, text := range []string{
		"A;B\r\n1;2\r\n", "A;\"b\nc\"\n1;2", "\"a\"\"b\";c\n\n\nd;e\n", "12\" pipe;x\n\"open\n1;2\n", ";;\n;\r\n\r\n", "a;b\rc\n", "\"x\"y;z\n", "\xff;\x00\n1;2\n",
		strings.Repeat("long;field;after;field\n", 20), "\n\n", "\r", "a\r", "\"\"\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, quote := range []byte{'"', 0} {
			whole, _ := rowsOf(t, text, 64<<10, quote)
			for _, size := range []int{1, 7, 16, 64} {
				if cut, _ := rowsOf(t, text, size, quote); !slices.Equal(cut, whole) {
					t.Fatalf("in blocks of %d: %q\nas a whole: %q", size, cut, whole)
				}
			}
		}
	})
}

// TestRowsMatchTheStandardLibrary compares the rows with encoding/csv.
func TestRowsMatchTheStandardLibrary(t *testing.T) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Comma = ';'
	var want [][]string
	for i := range 3000 {
		row := []string{fmt.Sprint(i), strings.Repeat("x", i%40), []string{"plain", "with \"quotes\"", "two\nlines", "a;b", ""}[i%5], "end"}
		want = append(want, row)
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	r := &records{delimiter: ';', quote: '"'}
	r.reset(block{line: 1, text: text.Bytes()})
	for i := 0; r.next(); i++ {
		var got []string
		for _, field := range r.fields {
			got = append(got, string(field))
		}
		if !slices.Equal(got, want[i]) {
			t.Fatalf("row %d is %q, want %q", i, got, want[i])
		}
	}
	if _, simple := rowsOf(t, strings.Repeat("a;b;c\r\n", 100), 64, '"'); simple == 0 {
		t.Error("the quick reader was never used")
	}
}

// FuzzFigure checks that a number is digits with at most one minus and one point, or refused, and
// that reversing it twice gives it back.
func FuzzFigure(f *testing.F) {
	for _, text := range []string{"0", "-0", "12,50-", "1.234,5", ",5", "5,", "00012", "--1", "", "1,2,3", "+7"} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, minor int) {
		one := numberFormat{decimal: ',', grouping: '.', minor: max(0, min(minor, 10))}
		number := one.read(nil, []byte(text), false)
		if number == nil {
			return
		}
		digits := strings.TrimPrefix(string(number), "-")
		if digits == "" || strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 || digits[0] == '.' || strings.HasSuffix(digits, ".") {
			t.Errorf("%q is read as %s", text, number)
		}
		turned := one.read(nil, []byte(text), true)
		if strings.Trim(digits, "0.") != "" && strings.HasPrefix(string(turned), "-") == strings.HasPrefix(string(number), "-") {
			t.Errorf("%q turned is %s, and %s before", text, turned, number)
		}
	})
}
