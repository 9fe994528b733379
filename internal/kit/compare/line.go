package compare

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

type bookLine struct {
	key      landfall.Key
	account  bool // the account itself
	readable bool
	figures  landfall.Figures // of the account itself
	items    []lineItem       // what may occur twice, here and in later lines

	kind book.Kind
	text []byte
	at   string               // file and line
	data landfall.AccountData // of other lines than accounts only what they add
}

// lineItem is something that a server stores once, however often it is sent.
type lineItem struct {
	kind   byte
	id     uint64 // hash of its identity
	at     int64  // for a note: creation time in seconds; 0 if unknown
	of     byte   // for a transaction: index of its type
	amount int64  // for a transaction, as sent
	signed int64  // for a transaction, as it changes the balance
}

// The kinds of items.
const (
	itemNote        = 'n'
	itemTransaction = 't'
	itemStatement   = 's'
	itemInstruction = 'i'
)

// parseLine parses a line. A line that the server could not parse has no key.
func parseLine(ctx context.Context, kind book.Kind, line book.Line, currency string) (p bookLine) {
	if line.TooLong {
		return bookLine{}
	}
	p.kind, p.text = kind, line.Text
	switch kind {
	case book.Accounts:
		account, err := contract.ReadAccount(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer account.Release()
		p.key, p.account, p.figures, p.data = account.Key(), true, account.Figures(currency), account.Data()
	case book.Notes:
		request, err := contract.ReadNotes(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.data.Notes = request.Notes()
	case book.Transactions:
		request, err := contract.ReadTransactions(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.data.CurrentTransactions = request.Transactions()
	case book.Statements:
		request, err := contract.ReadStatements(ctx, line.Text)
		if err != nil {
			return bookLine{}
		}
		defer request.Release()
		p.key = request.Key()
		p.data.Statements = request.Statements()
	case book.Instructions:
		request, _ := contract.ReadInstruction(ctx, line.Text) // the server reports errors
		p.key = request.Key
		p.data.Instructions = []landfall.Instruction{request.Instruction}
	}
	p.notes(p.data.Notes)
	p.transactions(p.data.HistoricalTransactions)
	p.transactions(p.data.CurrentTransactions)
	p.statements(p.data.Statements)
	p.instructions(p.data.Instructions)
	p.readable = p.key.Supplier != "" && contract.ValidExternalNumber(p.key.External)
	return p
}

// notes are identified by their text and, if they have one, their time.
func (p *bookLine) notes(list []landfall.Note) {
	for _, note := range list {
		fingerprint := note.Fingerprint()
		one := lineItem{kind: itemNote, id: binary.BigEndian.Uint64(fingerprint[:])}
		// With an identifier, the time does not matter.
		if !note.CreatedAt.IsZero() && note.ExternalID == "" {
			one.at = note.CreatedAt.Unix()
		}
		p.items = append(p.items, one)
	}
}

// transactions keep their type and amounts for the totals.
func (p *bookLine) transactions(list []landfall.Transaction) {
	for _, one := range list {
		p.items = append(p.items, lineItem{
			kind: itemTransaction, id: hash64(one.ID), of: typeIndex(one.Type), amount: int64(one.Amount), signed: int64(one.Signed()),
		})
	}
}

// typeIndex encodes a type as one byte.
func typeIndex(kind landfall.TransactionType) byte {
	for i, known := range landfall.TransactionTypes {
		if kind == known {
			return byte(i)
		}
	}
	return byte(len(landfall.TransactionTypes)) // unknown; such a line is refused
}

// statements are identified by their ID.
func (p *bookLine) statements(list []landfall.Statement) {
	for _, one := range list {
		p.items = append(p.items, lineItem{kind: itemStatement, id: hash64(one.ID)})
	}
}

// instructions are identified by vendor and reference, separated by a byte that neither contains.
func (p *bookLine) instructions(list []landfall.Instruction) {
	for _, one := range list {
		p.items = append(p.items, lineItem{kind: itemInstruction, id: hash64(one.Vendor + "\x00" + one.Reference)})
	}
}

// hash64 hashes an identity. Collisions within one account are very unlikely.
func hash64(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}
