package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/client"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

// The lists of an account, as the server names them.
const (
	listNotes        = "notes"
	listTransactions = "transactions"
	listStatements   = "statements"
	listInstructions = "payment_instructions"
)

// item is a note, a transaction, a statement or a payment instruction, of the book, of the record or
// on the server.
type item struct {
	list     string
	attr     string // in its line, such as notes.0; "" for an instruction that is a line itself
	at       string // file and line of the book
	ofRecord bool
	identity string // what makes it the same item, together with the time of a note
	name     string // identity for people
	used     bool   // on the server: it belongs to an item of the book or the record
	repeated bool   // the server's item belongs to an earlier item, too

	fields    []field        // unless it is a transaction
	note      *landfall.Note // if it is one
	document  []byte         // of a transaction
	movedFrom string         // original date of a transaction that the server moved
}

// field is a value of an item as text; "" if it was not sent.
type field struct{ name, value string }

// timeless reports whether the item is a note that is the same as a note of any time: one without a
// time, or with an identifier.
func (i *item) timeless() bool {
	return i.note != nil && (i.note.CreatedAt.IsZero() || i.note.ExternalID != "")
}

// ownNote reports whether the server wrote the note itself.
func (i *item) ownNote() bool {
	return i.note != nil && strings.HasPrefix(i.note.Body, landfall.MovedNoteStart)
}

// itself names the item in its line.
func (i *item) itself() string {
	if i.attr == "" {
		return i.list
	}
	return i.attr
}

// below names a field of the item in its line.
func (i *item) below(name string) string {
	if i.attr == "" {
		return name
	}
	return i.attr + "." + name
}

// differences compares an item with that of the server. created is when the account was created.
func (i *item) differences(there *item, created time.Time) (found []Difference) {
	if i.document != nil {
		if bytes.Equal(i.document, there.document) {
			return nil
		}
		// The server read both before. If not, everything about it differs.
		differs, err := contract.CompareTransactions(i.document, there.document)
		if err != nil {
			return []Difference{{Attr: i.itself(), Book: i.name, Server: there.name}}
		}
		for _, one := range differs {
			found = append(found, Difference{Attr: i.below(one.Attr), Book: one.Earlier, Server: one.Later})
		}
		return found
	}
	if slices.Equal(i.fields, there.fields) {
		return nil
	}
	sameDocuments := i.note != nil && there.note != nil && i.note.SameDocuments(*there.note)
	values := map[string]string{}
	for _, one := range there.fields {
		values[one.name] = one.value
	}
	add := func(name, book, server string) {
		switch {
		case book == "" && i.repeated: // the earlier item had it
		case book == server, sameDocuments && strings.HasPrefix(name, "document_paths."):
		case name == "created_at" && book == "" && !there.note.CreatedAt.Before(created.Truncate(time.Second)):
			// The default: the server used its own time.
		default:
			found = append(found, Difference{Attr: i.below(name), Book: book, Server: server})
		}
	}
	for _, one := range i.fields {
		add(one.name, one.value, values[one.name])
		delete(values, one.name)
	}
	for _, one := range there.fields {
		if value, only := values[one.name]; only {
			add(one.name, "", value)
		}
	}
	return found
}

// noteItem identifies a note by its text or, without one, by its documents.
func noteItem(note landfall.Note) *item {
	fingerprint := note.Fingerprint()
	one := &item{list: listNotes, identity: string(fingerprint[:]), name: note.Body, note: &note}
	one.fields = []field{
		{"body", note.Body}, {"created_at", timeText(note.CreatedAt)}, {"is_pinned", boolText(note.Pinned)}, {"unpin_at", timeText(note.UnpinAt)},
		{"external_id", note.ExternalID},
	}
	for at, path := range note.DocumentPaths {
		one.fields = append(one.fields, field{"document_paths." + strconv.Itoa(at) + ".document_path", path})
	}
	if note.Body == "" {
		one.name = strings.Join(note.DocumentPaths, ", ")
	}
	return one
}

func transactionItem(id string, document []byte) *item {
	return &item{list: listTransactions, identity: id, name: id, document: document}
}

func statementItem(s client.AccountStatement) *item {
	return &item{list: listStatements, identity: s.ID, name: s.ID, fields: []field{
		{"statement_id", s.ID}, {"bill_period_from_date", s.From}, {"bill_period_to_date", s.To}, {"issued_date", s.Issued},
		{"number", s.Number}, {"gross_amount", cmp.Or(s.SentAmount, s.GrossAmount)}, {"statement_path", strings.TrimPrefix(s.Path, "/")},
	}}
}

// instructionItem identifies an instruction by vendor and reference.
func instructionItem(i client.AccountInstruction) *item {
	return &item{list: listInstructions, identity: i.Vendor + "\x00" + i.Reference, name: i.Vendor + " " + i.Reference, fields: []field{
		{"vendor", i.Vendor}, {"reference", i.Reference}, {"type", i.Type}, {"valid_from", i.ValidFrom},
		{"use_for_scheduled_payments", boolText(i.ForSchedules)},
	}}
}

// timeText has seconds, which is what the server keeps of a note's time.
func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// boolText does not tell false from not sent, as the service does not.
func boolText(is bool) string {
	if !is {
		return ""
	}
	return "true"
}

// convertStatement converts a statement of the book into the server's form.
func convertStatement(s landfall.Statement) client.AccountStatement {
	converted := client.AccountStatement{ID: s.ID, From: s.FromOn.String(), To: s.ToOn.String(), Number: s.Number, Path: s.Path}
	if !s.IssuedOn.IsZero() {
		converted.Issued = s.IssuedOn.String()
	}
	if s.GrossAmount != nil {
		converted.GrossAmount = s.GrossAmount.String()
	}
	return converted
}

// convertInstruction converts an instruction of the book into the server's form.
func convertInstruction(i landfall.Instruction) client.AccountInstruction {
	converted := client.AccountInstruction{Vendor: i.Vendor, Reference: i.Reference, Type: i.Type, ForSchedules: i.ForSchedules}
	if !i.ValidFromOn.IsZero() {
		converted.ValidFrom = i.ValidFromOn.String()
	}
	return converted
}

// itemList collects items of a line or a record.
type itemList struct {
	at       string
	ofRecord bool
	extra    map[string][][]field // of packs, of the items of notes and statements
	items    []*item
}

// newItemList finds the fields of packs in the notes and statements of a document. It was read
// before.
func newItemList(document []byte) itemList {
	list := itemList{extra: map[string][][]field{}}
	for name, value := range rules.Members(document) {
		if plainFields[name] == nil {
			continue
		}
		for object := range rules.Items(value) {
			list.extra[name] = append(list.extra[name], extraFields(name, object))
		}
	}
	return list
}

// plainFields are the fields of notes and statements that no pack adds.
var plainFields = func() map[string]map[string]bool {
	names := map[string]map[string]bool{}
	for stem, list := range map[string]string{book.Notes.Stem: listNotes, book.Statements.Stem: listStatements} {
		names[list] = map[string]bool{}
		for _, declared := range contract.BookTable(stem).Fields {
			if declared.Name == list {
				for _, own := range declared.Type.Item.Table.Fields {
					names[list][own.Name] = true
				}
			}
		}
	}
	return names
}()

// extraFields returns the fields of packs in a note or a statement, sorted by name.
func extraFields(list string, object []byte) (fields []field) {
	for name, value := range rules.Members(object) {
		if plainFields[list][name] {
			continue
		}
		if form, err := rules.Canonical(value); err == nil && string(form) != "null" {
			fields = append(fields, field{name, string(form)})
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return fields
}

// addPackFields adds the fields of packs as the server returns them.
func (i *item) addPackFields(object json.RawMessage) *item {
	i.fields = append(i.fields, extraFields(i.list, object)...)
	return i
}

// add adds an item at an index of a list in the line.
func (l *itemList) add(one *item, list string, index int) {
	one.at, one.ofRecord = l.at, l.ofRecord
	if list != "" {
		one.attr = list + "." + strconv.Itoa(index)
	}
	if extra := l.extra[list]; index < len(extra) {
		one.fields = append(one.fields, extra[index]...)
	}
	l.items = append(l.items, one)
}

// recordItems returns the items of an account object.
func recordItems(document []byte, data *landfall.AccountData) []*item {
	list := newItemList(document)
	list.ofRecord = true
	for i, note := range data.Notes {
		list.add(noteItem(note), "notes", i)
	}
	for i, one := range data.HistoricalTransactions {
		list.add(transactionItem(one.ID, one.Document), "historical_statement_transactions", i)
	}
	for i, one := range data.CurrentTransactions {
		list.add(transactionItem(one.ID, one.Document), "current_statement_transactions", i)
	}
	for i, one := range data.Statements {
		list.add(statementItem(convertStatement(one)), "statements", i)
	}
	for i, one := range data.Instructions {
		list.add(instructionItem(convertInstruction(one)), "payment_instructions", i)
	}
	return list.items
}

// postedItems returns the items of a line that adds to an account.
func (p *bookLine) postedItems() []*item {
	list := newItemList(p.text)
	list.at = p.at
	switch p.kind {
	case book.Notes:
		for i, note := range p.data.Notes {
			list.add(noteItem(note), "notes", i)
		}
	case book.Transactions:
		for i, one := range p.data.CurrentTransactions {
			list.add(transactionItem(one.ID, one.Document), "transactions", i)
		}
	case book.Statements:
		for i, one := range p.data.Statements {
			list.add(statementItem(convertStatement(one)), "statements", i)
		}
	case book.Instructions:
		for _, one := range p.data.Instructions {
			list.add(instructionItem(convertInstruction(one)), "", 0)
		}
	}
	return list.items
}

// serverItems are the items of an account on the server.
type serverItems struct {
	all  []*item
	by   map[itemKey]*bucket
	next map[string]int // where the search for unused items of a list continues
}

// itemKey is the identity of an item. Notes have two: with and without their time.
type itemKey struct {
	list, identity string
	at             int64
}

// bucket has the items with one identity.
type bucket struct {
	items []*item
	next  int // those before it are used
}

func newServerItems(there *client.Account) *serverItems {
	s := &serverItems{by: map[itemKey]*bucket{}, next: map[string]int{}}
	for _, note := range there.Notes {
		converted := landfall.Note{Body: note.Body, HasBody: note.Body != "", CreatedAt: note.CreatedAt, Pinned: note.Pinned, UnpinAt: note.UnpinAt, ExternalID: note.ExternalID}
		for _, document := range note.Documents {
			converted.DocumentPaths = append(converted.DocumentPaths, document.Path)
		}
		one := noteItem(converted).addPackFields(note.PackFields)
		s.add(one)
		s.put(itemKey{one.list, one.identity, one.note.CreatedAt.Unix()}, one)
	}
	for _, entry := range there.Ledger {
		id, original := "", ""
		for name, value := range rules.Members(entry.Transaction) {
			switch name {
			case "transaction_id":
				id, _ = rules.StringValue(value)
			case "original_transaction_date":
				original, _ = rules.StringValue(value)
			}
		}
		// An opening balance is no transaction.
		if id != "" {
			one := transactionItem(id, entry.Transaction)
			one.movedFrom = original
			s.add(one)
		}
	}
	for _, statement := range there.Statements {
		s.add(statementItem(statement).addPackFields(statement.PackFields))
	}
	for _, instruction := range there.Instructions {
		s.add(instructionItem(instruction))
	}
	return s
}

func (s *serverItems) add(one *item) {
	s.all = append(s.all, one)
	s.put(itemKey{list: one.list, identity: one.identity}, one)
}

func (s *serverItems) put(key itemKey, one *item) {
	if s.by[key] == nil {
		s.by[key] = &bucket{}
	}
	s.by[key].items = append(s.by[key].items, one)
}

// find returns the server's item with the identity of one, if possible one that was not found
// before, or nil.
func (s *serverItems) find(one *item) *item {
	key := itemKey{list: one.list, identity: one.identity}
	if one.note != nil && !one.timeless() {
		key.at = one.note.CreatedAt.Unix()
	}
	same := s.by[key]
	if same == nil {
		return nil
	}
	for same.next < len(same.items) && same.items[same.next].used {
		same.next++
	}
	if same.next < len(same.items) {
		return same.items[same.next]
	}
	return same.items[0]
}

// nextUnused returns the next item of a list that nothing in the book or the record belongs to.
func (s *serverItems) nextUnused(list string) *item {
	for ; s.next[list] < len(s.all); s.next[list]++ {
		if there := s.all[s.next[list]]; there.list == list && !there.used && !there.ownNote() {
			return there
		}
	}
	return nil
}
