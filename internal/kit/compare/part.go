package compare

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// part is what one line of the book brings to an account.
type part struct {
	key      landfall.Key
	account  bool // it is the account itself
	readable bool
	figures  landfall.Figures // of the account itself
	items    []item           // what can come twice, here and in later lines
}

// item is something that a server keeps once however often it is sent.
type item struct {
	kind   byte
	id     uint64 // stands for what it is told apart by
	at     int64  // of a note: when it was made, in seconds; 0 when it does not say
	of     byte   // of a transaction: its type's place
	amount int64  // of a transaction, as sent
	signed int64  // of a transaction, as it moves the balance
}

// The kinds of items.
const (
	aNote        = 'n'
	aTransaction = 't'
	aStatement   = 's'
	anInstruct   = 'i'
)

// read takes a line apart. A line that no server would even read has no key.
func read(ctx context.Context, kind book.Kind, line book.Line, currency string) (p part) {
	if line.TooLong {
		return part{}
	}
	switch kind {
	case book.Accounts:
		account, err := contract.ReadAccount(ctx, line.Text)
		if err != nil {
			return part{}
		}
		defer account.Release()
		p = part{key: account.Key(), account: true, figures: account.Figures(currency)}
		data := account.Data()
		p.notes(data.Notes)
		p.transactions(data.HistoricalTransactions)
		p.transactions(data.CurrentTransactions)
		p.statements(data.Statements)
		p.instructions(data.Instructions...)
	case book.Notes:
		request, err := contract.ReadNotes(ctx, line.Text)
		if err != nil {
			return part{}
		}
		defer request.Release()
		p.key = request.Key()
		p.notes(request.Notes())
	case book.Transactions:
		request, err := contract.ReadTransactions(ctx, line.Text)
		if err != nil {
			return part{}
		}
		defer request.Release()
		p.key = request.Key()
		p.transactions(request.Transactions())
	case book.Statements:
		request, err := contract.ReadStatements(ctx, line.Text)
		if err != nil {
			return part{}
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
func (p *part) notes(list []landfall.Note) {
	for _, note := range list {
		short := note.Fingerprint()
		one := item{kind: aNote, id: binary.BigEndian.Uint64(short[:])}
		if !note.CreatedAt.IsZero() {
			one.at = note.CreatedAt.Unix()
		}
		p.items = append(p.items, one)
	}
}

// transactions keep their type and amounts, from which totals are made.
func (p *part) transactions(list []landfall.Transaction) {
	for _, one := range list {
		p.items = append(p.items, item{
			kind: aTransaction, id: short(one.ID), of: typePlace(one.Type), amount: int64(one.Amount), signed: int64(one.Signed()),
		})
	}
}

// typePlace makes a type one byte: parts of a million accounts wait on disk.
func typePlace(kind landfall.TransactionType) byte {
	for i, known := range landfall.TransactionTypes {
		if kind == known {
			return byte(i)
		}
	}
	return byte(len(landfall.TransactionTypes)) // of none; such a line is refused
}

// statements are counted by their number alone.
func (p *part) statements(list []landfall.Statement) {
	for _, one := range list {
		p.items = append(p.items, item{kind: aStatement, id: short(one.ID)})
	}
}

// instructions are one for each vendor and reference; the byte between the two can
// be in neither, so no two pairs become the same text.
func (p *part) instructions(list ...landfall.Instruction) {
	for _, one := range list {
		p.items = append(p.items, item{kind: anInstruct, id: short(one.Vendor + "\x00" + one.Reference)})
	}
}

// kept gives the part as it is kept on disk.
func (p *part) kept() *keptPart {
	kept := &keptPart{Account: p.account, Currency: p.figures.Currency}
	if p.account {
		for _, number := range p.figures.Numbers() {
			kept.Numbers = append(kept.Numbers, *number)
		}
	}
	for _, one := range p.items {
		kept.Items = append(kept.Items, keptItem{one.kind, one.of, one.id, one.at, one.amount, one.signed})
	}
	return kept
}

// short shortens what something is told apart by. Two things of one account
// would have to meet in 64 bits to be taken for the same.
func short(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}
