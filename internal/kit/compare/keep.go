package compare

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	"landfall"
	"landfall/client"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// The whole accounts of a server are several times as long as their differences from the book. Of an
// account whose record has the same bytes as a line of the book, only a hash of the record is kept,
// and of a transaction that is in the record, only where it is.

// sentRecords has a hash of every account of the book. The seeds differ from process to process.
type sentRecords struct {
	seeds  [2]maphash.Seed
	hashes map[uint64]struct{} // only the first half of each
}

// recordHash has 128 bits, so that two texts with the same hash are the same text.
type recordHash [2]uint64

func newSentRecords() *sentRecords {
	return &sentRecords{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, map[uint64]struct{}{}}
}

func (s *sentRecords) hash(text []byte) recordHash {
	return recordHash{maphash.Bytes(s.seeds[0], text), maphash.Bytes(s.seeds[1], text)}
}

// maxSearched is the length of the longest record in which transactions are searched. In long ones
// with many transactions it would take too long.
const maxSearched = 64 << 10

// keptWhole is a whole account of the server as it is kept.
type keptWhole struct {
	external string
	text     []byte
	err      error
}

// keepWhole keeps what the comparison needs of a whole account: the object without its record and
// ledger, the record or its hash, and the transactions of the ledger.
func (s *sentRecords) keepWhole(whole []byte) keptWhole {
	_, external, found := rules.Peek(whole, "import_supplier", "external_account_number")
	if !found {
		return keptWhole{err: errUnreadable}
	}
	var data, ledger []byte
	rest := append(make([]byte, 0, len(whole)/2), '{')
	for name, value := range rules.Members(whole) {
		switch name {
		case "data":
			data = value
		case "ledger":
			ledger = value
		default:
			rest = append(rules.AppendName(rest, name), value...)
		}
	}
	kept := appendText(make([]byte, 0, len(rest)+256), append(rest, '}'))
	hash := s.hash(data)
	if _, sent := s.hashes[hash[0]]; sent {
		kept = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(append(kept, 1), hash[0]), hash[1])
	} else {
		kept = appendText(append(kept, 0), data)
	}
	for entry := range rules.Items(ledger) {
		for name, value := range rules.Members(entry) {
			if name == "transaction" && string(value) != "null" {
				kept = appendTransaction(kept, data, value)
			}
		}
	}
	return keptWhole{external, kept, nil}
}

// appendTransaction appends a transaction or, if it is in the record, where.
func appendTransaction(kept, data, transaction []byte) []byte {
	at := -1
	if len(data) <= maxSearched {
		at = bytes.Index(data, transaction)
	}
	kept = binary.AppendUvarint(kept, uint64(at+1))
	if at < 0 {
		return appendText(kept, transaction)
	}
	return binary.AppendUvarint(kept, uint64(len(transaction)))
}

var (
	errUnreadable = errors.New("the server sent an account that is not a readable JSON object")
	errSameHash   = errors.New("two accounts have the same hash by chance; compare again")
)

// openWhole returns the account that keepWhole kept. The lines are those of the book for the account.
func (s *sentRecords) openWhole(kept []byte, lines []record) (serverAccount, error) {
	fields := storedFields{rest: kept}
	whole := &client.Account{}
	if err := json.Unmarshal(fields.text(), whole); err != nil {
		return serverAccount{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if fields.number() == 0 {
		whole.Data = fields.text()
	} else if whole.Data = s.find(&fields, lines); whole.Data == nil {
		return serverAccount{}, errSameHash
	}
	for len(fields.rest) > 0 {
		at, text := fields.count(), []byte(nil)
		if at == 0 {
			text = fields.text()
		} else if length := fields.count(); at-1+length <= len(whole.Data) {
			text = whole.Data[at-1 : at-1+length]
		}
		whole.Ledger = append(whole.Ledger, client.LedgerEntry{Transaction: text})
	}
	balance, _ := money.ParseAmount(whole.Balance) // in the server's own format
	return serverAccount{
		State: Same, Number: whole.Number, Currency: whole.Currency, Balance: int64(balance),
		Notes: int64(len(whole.Notes)), Statements: int64(len(whole.Statements)), Whole: whole,
	}, fields.err
}

// find returns the line of the book with a hash.
func (s *sentRecords) find(fields *storedFields, lines []record) []byte {
	const width = 8
	if len(fields.rest) < 2*width {
		fields.err = errDamaged
		return nil
	}
	hash := recordHash{binary.LittleEndian.Uint64(fields.rest), binary.LittleEndian.Uint64(fields.rest[width:])}
	fields.rest = fields.rest[2*width:]
	for _, line := range lines {
		if s.hash(line.text) == hash {
			return line.text
		}
	}
	return nil
}

// said returns what the server says about an account.
func (s *sentRecords) said(one record, lines []record) (what serverAccount, err error) {
	if one.kind == wholeRecord {
		return s.openWhole(one.text, lines)
	}
	err = json.Unmarshal(one.text, &what) //nolint:musttag // only this program reads it, before it ends
	return what, err
}

// saidOf returns a record of what the server says.
func saidOf(key landfall.Key, what serverAccount) (record, error) {
	text, err := json.Marshal(what) //nolint:musttag // likewise
	return record{kind: saidRecord, key: key, text: text}, err
}
