package compare

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"landfall"
	"landfall/internal/kit/book"
)

// TestPartitionsReturnWhatWasAdded adds more than fits into memory, and one record that is longer than a
// block.
func TestPartitionsReturnWhatWasAdded(t *testing.T) {
	h := newPartitions()
	added := map[landfall.Key][]string{}
	for i := range 400_000 {
		length := i % 50
		if i == 1000 {
			length = 3 * blockLength
		}
		one := record{
			kind: bookRecord, key: landfall.Key{Supplier: "N", External: fmt.Sprint(i % 1000)}, file: i % 3, line: i,
			text: bytes.Repeat([]byte{byte(i)}, length),
		}
		if err := h.add(one); err != nil {
			t.Fatal(err)
		}
		added[one.key] = append(added[one.key], fmt.Sprint(one))
	}
	if err := h.finish(); err != nil {
		t.Fatal(err)
	}
	inFiles := 0
	found := map[landfall.Key][]string{}
	for at := range h.parts {
		if h.parts[at].file != nil {
			inFiles++
		}
		if err := h.each(t.Context(), at, func(one record) { found[one.key] = append(found[one.key], fmt.Sprint(one)) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	if inFiles == 0 {
		t.Error("everything fitted into memory")
	}
	for key, want := range added {
		if !slices.Equal(found[key], want) {
			t.Fatalf("account %s has %d records, want %d in order", key.External, len(found[key]), len(want))
		}
	}
}

// TestLinesThatCannotBeParsedDoNotCount puts such lines before, between and after others. They are
// counted, and the accounts are reported in the order of their other lines.
func TestLinesThatCannotBeParsedDoNotCount(t *testing.T) {
	var found []string
	c := &comparison{
		options: Options{
			Book: &book.Book{Files: []book.File{{Path: "accounts.ndjson", Kind: book.Accounts}}}, Currency: "GBP",
			Found: func(one Finding) error {
				found = append(found, one.Key.External+" "+string(one.State))
				return nil
			},
		},
		partitions: &partitions{parts: make([]partition, 1)}, sent: newSentRecords(),
		result: Result{Accounts: map[State]int{}, Suppliers: []*Supplier{{Code: "N", tallies: &landfall.Tallies{}}}},
	}
	for i, line := range []string{"1 broken", "2 broken", "3", "2", "4 broken", "1", "5", "3 broken", "6 broken"} {
		external, broken := line[:1], line[1:] != ""
		text := fmt.Sprintf(`{"import_supplier":"N","external_account_number":%q,"customers":[{}]}`, external)
		if broken {
			text = text[:len(text)-1]
		}
		peeked := c.peekLine(0, book.Accounts, book.Line{Number: i + 1, Text: []byte(text)})
		if err := c.addLine(t.Context(), &peeked); err != nil {
			t.Fatal(err)
		}
	}
	said, err := saidOf(landfall.Key{Supplier: "N", External: "6"}, serverAccount{State: Same})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.partitions.add(said); err != nil {
		t.Fatal(err)
	}
	if err := c.comparePartition(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if want := []string{"3 missing", "2 missing", "1 missing", "5 missing", "6 extra"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	if c.result.Unreadable != 5 {
		t.Errorf("%d lines cannot be parsed, want 5", c.result.Unreadable)
	}
}
