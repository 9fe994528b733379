package compare

import (
	"bytes"
	"context"
	"strings"

	"landfall"
	"landfall/client"
	"landfall/internal/api/contract"
)

// wholeComparison compares every field and every posting of one account.
type wholeComparison struct {
	lines []*bookLine // the account itself first
	there *client.Account

	items     *serverItems
	differs   []Difference
	explained []Difference // by what the server changed and reports itself
}

// maxPerAccount limits the differences of one account.
const maxPerAccount = 1_000

// compare compares the account object with the record, the record with what the server derived from
// it, and the book's postings with the rest.
func (w *wholeComparison) compare(ctx context.Context) error {
	data, err := w.readRecord(ctx)
	if err != nil {
		return err
	}
	w.items = newServerItems(w.there)
	w.addMissing(w.match(recordItems(w.there.Data, data)))
	var posted []*item
	whole := false
	for _, line := range w.lines {
		if !line.account {
			posted = append(posted, line.postedItems()...)
			continue
		}
		whole = true
		if err := w.compareRecord(line); err != nil {
			return err
		}
	}
	missing := w.match(posted)
	if !whole {
		// The book only adds to the account, so the rest of it is not known.
		w.addMissing(missing)
		return nil
	}
	w.pairRest(missing)
	return nil
}

// readRecord reads the record, unless the same bytes were read from the book.
func (w *wholeComparison) readRecord(ctx context.Context) (*landfall.AccountData, error) {
	for _, line := range w.lines {
		if line.account && bytes.Equal(line.text, w.there.Data) {
			return &line.data, nil
		}
	}
	account, err := contract.ReadAccount(ctx, w.there.Data)
	if err != nil {
		return nil, err
	}
	defer account.Release()
	data := account.Data()
	return &data, nil
}

// compareRecord compares an account of the book with the server's record.
func (w *wholeComparison) compareRecord(line *bookLine) error {
	if bytes.Equal(line.text, w.there.Data) {
		return nil
	}
	found, err := contract.CompareAccounts(line.text, w.there.Data)
	for _, one := range found {
		w.add(Difference{Attr: one.Attr, Book: one.Earlier, Server: one.Later, At: line.at})
	}
	return err
}

// match compares items with those on the server that have the same identity, and returns the items
// that the server does not have. Notes without a time are last: they are the same as a note of any
// time, and must not take the one of a note with a time.
func (w *wholeComparison) match(items []*item) (missing []*item) {
	for _, timed := range []bool{true, false} {
		for _, one := range items {
			if one.timeless() == timed {
				continue
			}
			there := w.items.find(one)
			if there == nil {
				missing = append(missing, one)
				continue
			}
			one.repeated, there.used = there.used, true
			w.compareItems(one, there)
		}
	}
	return missing
}

// pairRest compares what only the book has with what only the server has, in order: usually the
// identity itself differs. Only what remains is missing.
func (w *wholeComparison) pairRest(missing []*item) {
	left := missing[:0]
	for _, one := range missing {
		if there := w.items.nextUnused(one.list); there != nil && !one.ofRecord {
			there.used = true
			w.compareItems(one, there)
			continue
		}
		left = append(left, one)
	}
	w.addMissing(left)
	for _, there := range w.items.all {
		switch {
		case there.used:
		case there.ownNote():
			w.explained = append(w.explained, Difference{Attr: there.list, Server: there.name})
		default:
			w.add(Difference{Attr: there.list, Server: there.name})
		}
	}
}

// addMissing adds items that the server does not have.
func (w *wholeComparison) addMissing(items []*item) {
	for _, one := range items {
		w.add(Difference{Attr: one.itself(), Book: one.name, At: one.at})
	}
}

// compareItems compares the fields of an item.
func (w *wholeComparison) compareItems(one, there *item) {
	for _, differs := range one.differences(there, w.there.CreatedAt) {
		differs.At = one.at
		if there.movedFrom != "" && isMove(differs, there) {
			w.explained = append(w.explained, differs)
			continue
		}
		w.add(differs)
	}
}

// isMove reports whether a difference is what the server does to a transaction whose date it moves:
// it keeps the old date, and explains the new one in the note.
func isMove(differs Difference, there *item) bool {
	switch {
	case strings.HasSuffix(differs.Attr, ".transaction_date"):
		return differs.Book == there.movedFrom
	case strings.HasSuffix(differs.Attr, ".note"):
		added, is := strings.CutPrefix(differs.Server, differs.Book)
		return is && strings.HasPrefix(strings.TrimPrefix(added, "\n"), "Dated "+there.movedFrom)
	}
	return false
}

// add adds a difference, unless there are enough.
func (w *wholeComparison) add(one Difference) {
	if len(w.differs) < maxPerAccount {
		w.differs = append(w.differs, one)
	}
}
