package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/lib/money"
)

// bookSink writes a book: the records of the accounts, and what was added to them since.
type bookSink struct {
	journal *journal
	hide    *pseudonyms
	record  *rules.Table
	leftOut int

	// The current account.
	erased             bool
	supplier, external string
	known              map[string]int // what is in the record, by identity
	notes              int            // in the record
	figures            landfall.Figures
	body               []byte // of the call that is being written
	items              int    // in it
}

const (
	// bodyItems and bodyBytes limit one line of postings.
	bodyItems = 500
	bodyBytes = 1 << 20
)

func newBookSink(order Options, hide *pseudonyms, j *journal) accountSink {
	return &bookSink{journal: j, hide: hide, record: order.Schema.BookTable("accounts")}
}

func (s *bookSink) add(p *accountPage) (leftOut int, err error) {
	s.leftOut = 0
	err = readAccounts(p.reader(), s)
	return s.leftOut, err
}

func (s *bookSink) checkpoint() (bool, error) { return true, s.journal.sync() }

// finish writes the control totals.
func (s *bookSink) finish() error {
	if _, err := s.journal.file(book.Accounts.Stem + ".ndjson"); err != nil {
		return err
	}
	totals := []landfall.Figures{}
	for _, currency := range slices.Sorted(maps.Keys(s.journal.state.Totals)) {
		totals = append(totals, *s.journal.state.Totals[currency])
	}
	return writeDurably(s.journal.path, book.TotalsName, book.FormatTotals(totals...))
}

func (s *bookSink) write(kind book.Kind, line []byte) error {
	file, err := s.journal.file(kind.Stem + ".ndjson")
	if err != nil {
		return err
	}
	file.rows++
	_, err = file.Write(append(line, '\n'))
	return err
}

// begin writes the record of an account.
func (s *bookSink) begin(head *jsonValue) error {
	data := head.member("data")
	s.erased = data.null()
	if s.erased {
		s.leftOut++
		return nil
	}
	s.supplier, s.external = head.member("import_supplier").plain(), head.member("external_account_number").plain()
	balance, err := money.ParseAmount(head.member("balance").plain())
	if err != nil {
		return fmt.Errorf("the balance of account %s: %w", s.external, err)
	}
	s.figures = landfall.Figures{
		Currency: head.member("currency").plain(), Accounts: 1, Customers: int64(len(data.member("customers").items)), Balance: balance,
	}
	for i := range data.member("supply_addresses").items {
		address := &data.member("supply_addresses").items[i]
		// Packs call them meter points.
		s.figures.SupplyPoints += int64(len(address.member("supply_points").items) + len(address.member("meter_points").items))
	}
	s.identify(data)
	if s.hide != nil {
		return s.write(book.Accounts, s.hide.object(nil, s.record, data))
	}
	return s.write(book.Accounts, data.text)
}

// identify records what the record itself has, so that it is not written again as a posting.
func (s *bookSink) identify(data *jsonValue) {
	s.known, s.notes = map[string]int{}, len(data.member("notes").items)
	for _, of := range append([]jsonValue{*data}, data.member("ledgers").items...) {
		for _, list := range []string{"historical_statement_transactions", "current_statement_transactions"} {
			for i := range of.member(list).items {
				s.known["transaction "+of.member(list).items[i].member("transaction_id").plain()]++
			}
		}
	}
	for i := range data.member("statements").items {
		s.known["statement "+data.member("statements").items[i].member("statement_id").plain()]++
	}
	for i := range data.member("payment_instructions").items {
		s.known[instructionIdentity(&data.member("payment_instructions").items[i])]++
	}
	for i := range data.member("notes").items {
		note := &data.member("notes").items[i]
		// The service keeps one of several equal notes.
		s.known[noteIdentity(note, true)] = 1
	}
}

func instructionIdentity(from *jsonValue) string {
	return "instruction " + from.member("vendor").plain() + " " + from.member("reference").plain()
}

// noteIdentity is what the service recognises a note by: its external_id, or its text or its documents
// and the time if one was given.
func noteIdentity(note *jsonValue, withTime bool) string {
	if id := note.member("external_id").plain(); id != "" {
		return "note with id " + id
	}
	id := "note " + note.member("body").plain()
	if id == "note " {
		paths := []string{}
		for i := range note.member("document_paths").items {
			paths = append(paths, strings.TrimLeft(note.member("document_paths").items[i].member("document_path").plain(), "/"))
		}
		slices.Sort(paths)
		id = "documents " + strings.Join(slices.Compact(paths), "\n")
	}
	at, err := time.Parse(time.RFC3339Nano, note.member("created_at").plain())
	if err != nil || !withTime {
		return id
	}
	return id + " " + at.UTC().Truncate(time.Second).String()
}

// take reports whether the record has something, and removes it.
func (s *bookSink) take(identity string) bool {
	if s.known[identity] == 0 {
		return false
	}
	s.known[identity]--
	return true
}

// item writes an item that was added after the account was created.
func (s *bookSink) item(list string, number int, item *jsonValue) error {
	if s.erased {
		return nil
	}
	switch list {
	case "ledger":
		return s.ledgerEntry(item)
	case "notes":
		if strings.HasPrefix(item.member("body").plain(), landfall.MovedNoteStart) {
			return nil // the service adds it again when it moves the same transactions
		}
		s.figures.Notes++
		if number < s.notes && (s.take(noteIdentity(item, true)) || s.take(noteIdentity(item, false))) {
			return nil
		}
		return s.post(book.Notes, "notes", item)
	case "statements":
		s.figures.Statements++
		if s.take("statement " + item.member("statement_id").plain()) {
			return nil
		}
		return s.post(book.Statements, "statements", item)
	}
	s.figures.Instructions++
	if s.take(instructionIdentity(item)) {
		return nil
	}
	return s.instruction(item)
}

// ledgerEntry writes a transaction as it was sent.
func (s *bookSink) ledgerEntry(entry *jsonValue) error {
	transaction := entry.member("transaction")
	if transaction.null() {
		return nil // an opening entry, which the other service makes again
	}
	amount, err := money.ParseAmount(transaction.member("amount").plain())
	if err != nil {
		return fmt.Errorf("a transaction of account %s: %w", s.external, err)
	}
	s.figures.CountTransaction(landfall.TransactionType(transaction.member("type").plain()), amount)
	if s.take("transaction " + transaction.member("transaction_id").plain()) {
		return nil
	}
	if sent := entry.member("sent"); !sent.null() {
		transaction = sent
	}
	return s.post(book.Transactions, "transactions", transaction)
}

// post adds an item to the body of a call.
func (s *bookSink) post(kind book.Kind, list string, item *jsonValue) error {
	if s.items == 0 {
		s.body = append(rules.AppendName(s.address(s.body[:0]), list), '[')
	}
	s.body = rules.AppendComma(s.body)
	item = asSent(item)
	if s.hide != nil {
		tables := map[string]*rules.Table{"transactions": findField(s.hide.lists["ledger"], "sent").Type.Table, "notes": s.hide.lists["notes"], "statements": s.hide.lists["statements"]}
		s.body = s.hide.object(s.body, tables[list], item)
	} else {
		s.body = append(s.body, item.text...)
	}
	if s.items++; s.items < bodyItems && len(s.body) < bodyBytes {
		return nil
	}
	return s.endBody(kind)
}

// asSent restores what was sent: the fields of packs are among the others, and the amount of a
// statement has the supplier's unit.
func asSent(item *jsonValue) *jsonValue {
	fields, amount := item.member("pack_fields"), item.member(sentAmount)
	if fields.null() && amount.null() {
		return item
	}
	text := []byte{'{'}
	for _, one := range slices.Concat(item.members, fields.members) {
		switch {
		case one.name == "pack_fields", one.name == sentAmount:
			continue
		case one.name == "gross_amount" && !amount.null():
			one.value = *amount
		}
		text = append(rules.AppendName(text, one.name), one.value.text...)
	}
	unfolded := parseValue(append(text, '}'))
	return &unfolded
}

// endBody writes the body of a call.
func (s *bookSink) endBody(kind book.Kind) error {
	if s.items == 0 {
		return nil
	}
	s.items = 0
	return s.write(kind, append(s.body, "]}"...))
}

// address starts a body with the account it is about.
func (s *bookSink) address(dst []byte) []byte {
	return rules.AppendText(rules.AppendText(append(dst, '{'), "import_supplier", s.supplier), "external_account_number", s.external)
}

// instruction writes a payment instruction, without what its vendor reported.
func (s *bookSink) instruction(item *jsonValue) error {
	body := s.address(s.body[:0])
	if s.hide != nil {
		hidden := parseValue(s.hide.object(nil, s.hide.lists["payment_instructions"], item))
		item = &hidden
	}
	for _, name := range []string{"vendor", "reference", "type", "valid_from", "use_for_scheduled_payments"} {
		if field := item.member(name); !field.null() {
			body = append(rules.AppendName(body, name), field.text...)
		}
	}
	return s.write(book.Instructions, append(body, '}'))
}

func (s *bookSink) endList(list string, _ int) error {
	return s.endBody(map[string]book.Kind{"ledger": book.Transactions, "notes": book.Notes, "statements": book.Statements}[list])
}

// end adds the account to the control totals.
func (s *bookSink) end() error {
	if s.erased {
		return nil
	}
	of := s.journal.state.Totals[s.figures.Currency]
	if of == nil {
		of = &landfall.Figures{Currency: s.figures.Currency}
		s.journal.state.Totals[s.figures.Currency] = of
	}
	if !of.Add(s.figures) {
		return fmt.Errorf("the totals in %s are too large", s.figures.Currency)
	}
	return nil
}
