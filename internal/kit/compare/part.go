package compare

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// bookLine is what one line of the book brings to an account.
type bookLine struct {
	key      landfall.Key
	account  bool // it is the account itself
	readable bool
	figures  landfall.Figures // of the account itself
	items    []lineItem       // what can come twice, here and in later lines
}

// lineItem is something that a server keeps once however often it is sent.
type lineItem struct {
	kind   byte
	id     uint64 // stands for what it is told apart by
	at     int64  // of a note: when it was made, in seconds; 0 when it does not say
	of     byte   // of a transaction: its type's place
	amount int64  // of a transaction, as sent
	signed int64  // of a transaction, as it moves the balance
}

// The kinds of items.
const (
	itemNote        = 'n'
	itemTransaction = 't'
	itemStatement   = 's'
	itemInstruction = 'i'
)

// parseLine takes a line apart. A line that no server would even read has no key.
func parseLine(ctx context.Context, kind book.Kind, line book.Line, currency string) (p bookLine) {
	if line.TooLong {
		return bookLine{}
	}
	switch kind {
	case book.Accounts:
		account, err := contract.ReadAccount(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer account.Release()
		p = bookLine{key: account.Key(), account: true, figures: account.Figures(currency)}
		data := account.Data()
		p.notes(data.Notes)
		p.transactions(data.HistoricalTransactions)
		p.transactions(data.CurrentTransactions)
		p.statements(data.Statements)
		p.instructions(data.Instructions...)
	case book.Notes:
		request, err := contract.ReadNotes(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.notes(request.Notes())
	case book.Transactions:
		request, err := contract.ReadTransactions(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.transactions(request.Transactions())
	case book.Statements:
		request, err := contract.ReadStatements(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.statements(request.Statements())
	case book.Instructions:
		request, _ := contract.ReadInstruction(ctx, line.Text) // what is wrong with it is the server's to say
		p.key = request.Key
		p.instructions(request.Instruction)
	}
	p.readable = p.key.Supplier != "" && contract.ValidExternalNumber(p.key.External)
	return p
}

// notes are known by their text, since they have no number of their own, and by
// their time where they have one.
func (p *bookLine) notes(list []landfall.Note) {
	for _, note := range list {
		short := note.Fingerprint()
		one := lineItem{kind: itemNote, id: binary.BigEndian.Uint64(short[:])}
		if !note.CreatedAt.IsZero() {
			one.at = note.CreatedAt.Unix()
		}
		p.items = append(p.items, one)
	}
}

// transactions keep their type and amounts, from which totals are made.
func (p *bookLine) transactions(list []landfall.Transaction) {
	for _, one := range list {
		p.items = append(p.items, lineItem{
			kind: itemTransaction, id: hash64(one.ID), of: typeIndex(one.Type), amount: int64(one.Amount), signed: int64(one.Signed()),
		})
	}
}

// typeIndex makes a type one byte: parts of a million accounts wait on disk.
func typeIndex(kind landfall.TransactionType) byte {
	for i, known := range landfall.TransactionTypes {
		if kind == known {
			return byte(i)
		}
	}
	return byte(len(landfall.TransactionTypes)) // of none; such a line is refused
}

// statements are counted by their number alone.
func (p *bookLine) statements(list []landfall.Statement) {
	for _, one := range list {
		p.items = append(p.items, lineItem{kind: itemStatement, id: hash64(one.ID)})
	}
}

// instructions are one for each vendor and reference; the byte between the two can
// be in neither, so no two pairs become the same text.
func (p *bookLine) instructions(list ...landfall.Instruction) {
	for _, one := range list {
		p.items = append(p.items, lineItem{kind: itemInstruction, id: hash64(one.Vendor + "\x00" + one.Reference)})
	}
}

// stored gives the part as it is kept on disk.
func (p *bookLine) stored() *storedPart {
	kept := &storedPart{Account: p.account, Currency: p.figures.Currency}
	if p.account {
		for _, number := range p.figures.Numbers() {
			kept.Numbers = append(kept.Numbers, *number)
		}
	}
	for _, one := range p.items {
		kept.Items = append(kept.Items, storedItem{one.kind, one.of, one.id, one.at, one.amount, one.signed})
	}
	return kept
}

// hash64 shortens what something is told apart by. Two things of one account
// would have to meet in 64 bits to be taken for the same.
func hash64(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}
