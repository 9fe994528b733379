package contract

import (
	"landfall"
	"landfall/internal/api/rules"
)

// WholeAccountQuery is the query of the stream of whole accounts.
type WholeAccountQuery struct {
	ListPage
	ChangedSince string                 // as sent; "": all accounts
	Since        landfall.EventPosition // the same as a position in the log of events
	Reason       string                 // for the audit
	Fingerprint  bool                   // write the fingerprints
}

// ReadWholeAccountQuery reads the query of the stream of a supplier's whole
// accounts. A cursor of the feed is accepted if its reader saw the events of
// this supplier.
func ReadWholeAccountQuery(raw, supplier string) (asked WholeAccountQuery, err error) {
	query := ReadQuery(raw)
	asked.ListPage = ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	if text, given := query.take("changed_since"); given {
		place, filter, sound := DecodeEventCursor(text)
		if asked.ChangedSince, asked.Since = text, place; !sound || filter != "" && filter != supplier {
			query.refuse("changed_since", CodeInvalidCursor, "Use the cursor from next in a response of the event feed, with this supplier or all of them.")
		}
	}
	asked.Reason, asked.Fingerprint = query.Line("reason", maxReadReason), query.Bool("fingerprint", true)
	return asked, query.Err()
}

// maxReadReason is how many characters the reason of a read may have.
const maxReadReason = 200

// Pieces sends a body piece by piece.
type Pieces struct {
	// Flush sends what was written so far and returns a buffer to go on with.
	Flush func(written []byte) ([]byte, error)
	// Size is how much is written before it is sent.
	Size int
	// More reads the next items of the lists of an account.
	More func(query landfall.AccountListsQuery) (landfall.AccountLists, error)
}

// AppendWholeAccount writes a whole account. It reads the rest of lists that
// are longer than what was read of them, and sends a long account piece by
// piece.
func AppendWholeAccount(dst []byte, whole *WholeAccount, pieces Pieces) (_ []byte, err error) {
	dst = append(dst, '{')
	first := len(dst)
	for i := range wholeHead {
		if member := &wholeHead[i]; member.present == nil || member.present(*whole) {
			if len(dst) > first {
				dst = append(dst, ',')
			}
			dst = append(rules.AppendString(dst, member.name), ':')
			dst = member.write(dst, *whole)
		}
	}
	writer := listWriter{account: whole, pieces: pieces}
	if dst, err = writeWholeList(dst, &writer, "ledger", LedgerEntryBody, whole.Lists.Entries, whole.Lengths.Entries,
		func(query *landfall.AccountListsQuery) *int { return &query.After.Entries },
		func(lists *landfall.AccountLists) []landfall.LedgerEntry { return lists.Entries }); err != nil {
		return dst, err
	}
	if dst, err = writeWholeList(dst, &writer, "notes", WholeNoteBody, whole.Lists.Notes, whole.Lengths.Notes,
		func(query *landfall.AccountListsQuery) *int { return &query.After.Notes },
		func(lists *landfall.AccountLists) []landfall.Note { return lists.Notes }); err != nil {
		return dst, err
	}
	if dst, err = writeWholeList(dst, &writer, "statements", WholeStatementBody, whole.Lists.Statements, whole.Lengths.Statements,
		func(query *landfall.AccountListsQuery) *int { return &query.After.Statements },
		func(lists *landfall.AccountLists) []landfall.Statement { return lists.Statements }); err != nil {
		return dst, err
	}
	if dst, err = writeWholeList(dst, &writer, "payment_instructions", WholeInstructionBody, whole.Lists.Instructions, whole.Lengths.Instructions,
		func(query *landfall.AccountListsQuery) *int { return &query.After.Instructions },
		func(lists *landfall.AccountLists) []landfall.Instruction { return lists.Instructions }); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

type listWriter struct {
	account *WholeAccount
	pieces  Pieces
}

// writeWholeList writes one list: the items that were read, and then the rest.
func writeWholeList[Item any](
	dst []byte, w *listWriter, name string, body *Body[Item], items []Item, length int,
	position func(*landfall.AccountListsQuery) *int, of func(*landfall.AccountLists) []Item,
) (_ []byte, err error) {
	dst = append(rules.AppendString(append(dst, ','), name), ':', '[')
	for written := 0; written < length; {
		if len(items) == 0 {
			query := landfall.AccountListsQuery{Key: w.account.Key, CreatedAt: w.account.CreatedAt, After: w.account.Lengths, UpTo: w.account.Lengths}
			*position(&query) = written
			lists, err := w.pieces.More(query)
			if err != nil {
				return dst, err
			}
			if items = of(&lists); len(items) == 0 {
				return dst, landfall.ErrNotFound // the account changed meanwhile
			}
		}
		if written > 0 {
			dst = append(dst, ',')
		}
		from := len(dst)
		dst = body.Append(dst, items[0])
		if w.account.OneLine {
			joinLines(dst[from:]) // transactions are written as they were sent
		}
		items, written = items[1:], written+1
		if len(dst) >= w.pieces.Size {
			if dst, err = w.pieces.Flush(dst); err != nil {
				return dst, err
			}
		}
	}
	return append(dst, ']'), nil
}
