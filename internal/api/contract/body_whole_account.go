package contract

import (
	"bytes"
	"slices"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// WholeAccount is a whole account as it is written.
type WholeAccount struct {
	landfall.WholeAccount
	// OneLine writes the record without line breaks, for NDJSON.
	OneLine bool
	// NoFingerprint leaves the fingerprint out.
	NoFingerprint bool
}

// NewWholeAccount adds the fingerprint to an account.
func NewWholeAccount(account landfall.WholeAccount) (WholeAccount, error) {
	whole := WholeAccount{WholeAccount: account}
	if account.Record == nil {
		return whole, nil
	}
	var err error
	whole.Fingerprint, err = Fingerprint(account.Record)
	return whole, err
}

// WholeAccountBody is a whole account. The four lists are its last members, so
// that long ones can be written piece by piece.
var WholeAccountBody = &Body[WholeAccount]{
	name: "WholeAccount", doc: "An account with its record and what the service holds now.",
	members: append(slices.Clone(wholeHead),
		listMember("ledger", "Every change of the balance, oldest first.", LedgerEntryBody, func(w WholeAccount) []landfall.LedgerEntry { return w.Lists.Entries }),
		listMember("notes", "The notes on the account, oldest first.", WholeNoteBody, func(w WholeAccount) []landfall.Note { return w.Lists.Notes }),
		listMember("statements", "The historical statements.", WholeStatementBody, func(w WholeAccount) []landfall.Statement { return w.Lists.Statements }),
		listMember("payment_instructions", "The payment instructions, with what their vendors reported.", WholeInstructionBody,
			func(w WholeAccount) []landfall.Instruction { return w.Lists.Instructions }),
	),
	example: exampleWholeAccount(),
}

// wholeHead declares the members before the lists.
var wholeHead = []bodyMember[WholeAccount]{
	stringMember("import_supplier", supplierDoc, func(w WholeAccount) string { return w.Key.Supplier }),
	stringMember("external_account_number", externalNumberDoc, func(w WholeAccount) string { return w.Key.External }),
	stringMember("platform_account_number", accountNumberDoc, func(w WholeAccount) string { return w.Number }),
	timeMember("created_at", "When the account was created.", func(w WholeAccount) time.Time { return w.CreatedAt }),
	intMember("revision", "Revision of the staged data that the account was created from.", func(w WholeAccount) int { return w.Revision }),
	nullableString("fingerprint", "SHA-256 of the canonical form (RFC 8785) of `data`, in hexadecimal. Null if the record was erased.",
		func(w WholeAccount) (string, bool) { return w.Fingerprint, w.Fingerprint != "" }).
		onlyIf(func(w WholeAccount) bool { return !w.NoFingerprint }),
	{
		name: "data", doc: "The record: the account object as it was accepted. Null if it was erased.",
		schema: map[string]any{"oneOf": []any{anyObjectSchema, map[string]any{"type": "null"}}},
		write:  appendRecord,
	},
	timeMember("erased_at", "When the personal data was erased. Only if it was.", func(w WholeAccount) time.Time { return w.ErasedAt }).
		onlyIf(func(w WholeAccount) bool { return !w.ErasedAt.IsZero() }),
	stringMember("balance", "Positive means the customer is in credit.", func(w WholeAccount) string { return w.Balance.String() }),
	stringMember("currency", "ISO 4217 code.", func(w WholeAccount) string { return w.Currency }),
	{
		name: "open_period", doc: "The open statement period. It lasts until today.", schema: schemaRef(openPeriodBody.name),
		write: func(dst []byte, w WholeAccount) []byte { return openPeriodBody.Append(dst, w.OpenFromOn) },
	},
	stringMember("delivery", "Whether the account was delivered to a target system. `NONE` means that it has no target.",
		func(w WholeAccount) string { return DeliveryState(w.Delivery) }).withSchema(enumSchema(deliveryStates...)),
}

// appendRecord writes the record as it was sent, in a line of NDJSON without line
// breaks.
func appendRecord(dst []byte, w WholeAccount) []byte {
	if w.Record == nil {
		return append(dst, "null"...)
	}
	from := len(dst)
	dst = append(dst, w.Record...)
	if w.OneLine {
		joinLines(dst[from:])
	}
	return dst
}

// joinLines replaces line breaks by spaces.
func joinLines(text []byte) {
	for _, lineBreak := range []byte{'\n', '\r'} {
		for at := 0; ; {
			next := bytes.IndexByte(text[at:], lineBreak)
			if next < 0 {
				break
			}
			at += next
			text[at] = ' '
		}
	}
}

var openPeriodBody = &Body[calendar.Day]{
	name: "OpenPeriod", doc: "An open statement period.",
	members: []bodyMember[calendar.Day]{
		dayMember("from_date", "First day of the period.", func(day calendar.Day) calendar.Day { return day }).withSchema(dateSchema),
	},
	example: calendar.Date(2025, time.November, 1),
}

// LedgerEntryBody is an entry of a ledger.
var LedgerEntryBody = &Body[landfall.LedgerEntry]{
	name: "LedgerEntry", doc: "One change of the balance of an account.",
	members: []bodyMember[landfall.LedgerEntry]{
		intMember("sequence", "Position in the ledger, starting at 1.", func(e landfall.LedgerEntry) int { return e.Sequence }),
		stringMember("kind", "`OPENING` is the part of the opening balance that no transaction explains.", func(e landfall.LedgerEntry) string {
			if e.Kind == landfall.OpeningEntry {
				return "OPENING"
			}
			return "TRANSACTION"
		}).withSchema(enumSchema("OPENING", "TRANSACTION")),
		boolMember("closed", "Whether the entry is on the closed opening statement.", func(e landfall.LedgerEntry) bool { return e.Closed }),
		dayMember("date", "Date of the entry.", func(e landfall.LedgerEntry) calendar.Day { return e.Transaction.On }).withSchema(dateSchema),
		stringMember("amount", "Change of the balance; positive in the customer's favour.", func(e landfall.LedgerEntry) string { return e.Signed.String() }),
		stringMember("balance", "Balance after this entry.", func(e landfall.LedgerEntry) string { return e.Balance.String() }),
		{
			name: "transaction", doc: "The transaction as in the response to adding it. Null for an opening entry. If personal data was erased, only the booked fields.",
			schema: map[string]any{"oneOf": []any{anyObjectSchema, map[string]any{"type": "null"}}},
			write: func(dst []byte, e landfall.LedgerEntry) []byte {
				switch {
				case e.Kind != landfall.TransactionEntry:
					return append(dst, "null"...)
				case e.Transaction.Document == nil:
					return appendBooked(dst, e.Transaction)
				case e.Transaction.OriginalOn.IsZero():
					return rules.AppendReplaced(dst, e.Transaction.Document, "amount", `"`+e.Transaction.Amount.String()+`"`)
				}
				return AppendTransaction(dst, e.Transaction)
			},
		},
		bodyMember[landfall.LedgerEntry]{
			name: "sent", doc: "The transaction as it was sent. Only if its date was moved.", schema: anyObjectSchema,
			write: func(dst []byte, e landfall.LedgerEntry) []byte { return append(dst, e.Transaction.Document...) },
		}.onlyIf(func(e landfall.LedgerEntry) bool {
			return !e.Transaction.OriginalOn.IsZero() && e.Transaction.Document != nil
		}),
	},
	example: landfall.LedgerEntry{
		Sequence: 1, Kind: landfall.TransactionEntry, Signed: 52_500, Balance: 52_500,
		Transaction: exampleRequest(ReadTransactions, ExampleTransactions).Transactions()[0],
	},
}

// appendBooked writes what is kept of a transaction whose document was erased.
func appendBooked(dst []byte, transaction landfall.Transaction) []byte {
	dst = rules.AppendText(append(dst, '{'), "transaction_id", transaction.ID)
	dst = rules.AppendText(dst, "transaction_date", transaction.On.String())
	dst = rules.AppendText(dst, "amount", transaction.Amount.String())
	dst = rules.AppendText(dst, "type", string(transaction.Type))
	if !transaction.OriginalOn.IsZero() {
		dst = rules.AppendText(dst, "original_transaction_date", transaction.OriginalOn.String())
	}
	return append(dst, '}')
}

// WholeNoteBody is a note of an account.
var WholeNoteBody = &Body[landfall.Note]{
	name: "AccountNote", doc: "A note on an account.",
	members: []bodyMember[landfall.Note]{
		timeMember("created_at", "", func(n landfall.Note) time.Time { return n.CreatedAt }),
		nullableString("body", "Null for a note that only has documents.", func(n landfall.Note) (string, bool) { return n.Body, n.HasBody }),
		{
			name: "document_paths", schema: arraySchema(anyObjectSchema), doc: "The documents of the note.",
			write: func(dst []byte, n landfall.Note) []byte {
				dst = append(dst, '[')
				for _, path := range n.DocumentPaths {
					dst = append(rules.AppendText(append(rules.AppendComma(dst), '{'), "document_path", path), '}')
				}
				return append(dst, ']')
			},
		},
		boolMember("is_pinned", "", func(n landfall.Note) bool { return n.Pinned }),
		timeMember("unpin_at", "Null if the note stays pinned.", func(n landfall.Note) time.Time { return n.UnpinAt }).withSchema(nullableTimeSchema),
		stringMember("external_id", "Only if the note has one.", func(n landfall.Note) string { return n.ExternalID }).
			onlyIf(func(n landfall.Note) bool { return n.ExternalID != "" }),
		packFieldsMember(func(n landfall.Note) string { return n.Extra }),
	},
	example: exampleRequest(ReadNotes, ExampleNotes).Notes()[0],
}

// WholeStatementBody is a historical statement of an account.
var WholeStatementBody = &Body[landfall.Statement]{
	name: "AccountStatement", doc: "A bill issued by the previous supplier.",
	members: []bodyMember[landfall.Statement]{
		stringMember("statement_id", "", func(s landfall.Statement) string { return s.ID }),
		dayMember("bill_period_from_date", "", func(s landfall.Statement) calendar.Day { return s.FromOn }),
		dayMember("bill_period_to_date", "", func(s landfall.Statement) calendar.Day { return s.ToOn }),
		dayMember("issued_date", "", func(s landfall.Statement) calendar.Day { return s.IssuedOn }),
		stringMember("number", "", func(s landfall.Statement) string { return s.Number }),
		nullableString("gross_amount", "", func(s landfall.Statement) (string, bool) {
			if s.GrossAmount == nil {
				return "", false
			}
			return s.GrossAmount.String(), true
		}),
		stringMember("gross_amount_sent", "`gross_amount` as it was sent. Only if the supplier sends it in minor units.", func(s landfall.Statement) string { return s.SentAmount.String() }).
			onlyIf(func(s landfall.Statement) bool { return s.SentAmount != nil }),
		stringMember("statement_path", "", func(s landfall.Statement) string { return s.Path }),
		packFieldsMember(func(s landfall.Statement) string { return s.Extra }),
	},
	example: exampleRequest(ReadStatements, ExampleStatements).Statements()[0],
}

// WholeInstructionBody is a payment instruction of an account.
var WholeInstructionBody = &Body[landfall.Instruction]{
	name: "AccountInstruction", doc: "A payment instruction of an account, with what its vendor reported.",
	members: []bodyMember[landfall.Instruction]{
		stringMember("vendor", "", func(i landfall.Instruction) string { return i.Vendor }),
		stringMember("reference", "", func(i landfall.Instruction) string { return i.Reference }),
		stringMember("type", "", func(i landfall.Instruction) string { return i.Type }),
		dayMember("valid_from", "", func(i landfall.Instruction) calendar.Day { return i.ValidFromOn }),
		boolMember("use_for_scheduled_payments", "", func(i landfall.Instruction) bool { return i.ForSchedules }),
		stringMember("status", "As the vendor reported it.", func(i landfall.Instruction) string { return i.Details.Status }),
		stringMember("scheme", "", func(i landfall.Instruction) string { return i.Details.Scheme }),
		stringMember("last_digits", "", func(i landfall.Instruction) string { return i.Details.LastDigits }),
		stringMember("expiry", "", func(i landfall.Instruction) string { return i.Details.Expiry }),
	},
	example: landfall.Instruction{Vendor: "SANDBOX", Reference: exampleReference, Type: "CARD", Details: landfall.InstructionDetails{
		Status: "active", Scheme: "sandbox", LastDigits: "5653", Expiry: "2035-12",
	}},
}

func packFieldsMember[T any](get func(T) string) bodyMember[T] {
	return rawMember("pack_fields", "Fields of the supplier's packs, as sent. Only if there are any.", anyObjectSchema, func(value T) []byte { return []byte(get(value)) }).
		onlyIf(func(value T) bool { return get(value) != "" })
}

// dateSchema and nullableDateSchema describe a calendar day.
var (
	dateSchema         = map[string]any{"type": "string", "format": "date"}
	nullableDateSchema = map[string]any{"type": []string{"string", "null"}, "format": "date"}
)

// dayMember is a member that is a day, or null if it is zero.
func dayMember[T any](name, doc string, get func(T) calendar.Day) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: nullableDateSchema, write: func(dst []byte, value T) []byte {
		day := get(value)
		if day.IsZero() {
			return append(dst, "null"...)
		}
		return rules.AppendString(dst, day.String())
	}}
}

// exampleWholeAccount is the example account with one item of each list.
func exampleWholeAccount() WholeAccount {
	whole, err := NewWholeAccount(landfall.WholeAccount{
		Key: landfall.Key{Supplier: exampleSupplier, External: exampleExternal}, Number: exampleNumber, CreatedAt: exampleInstant,
		Revision: 1, Record: []byte(ExampleAccount), Currency: "GBP", Balance: 52_500, OpenFromOn: openPeriodBody.example,
		Lists: landfall.AccountLists{
			Entries: []landfall.LedgerEntry{LedgerEntryBody.example}, Notes: []landfall.Note{WholeNoteBody.example},
			Statements: []landfall.Statement{WholeStatementBody.example}, Instructions: []landfall.Instruction{WholeInstructionBody.example},
		},
		Lengths: landfall.ListLengths{Entries: 1, Notes: 1, Statements: 1, Instructions: 1},
	})
	if err != nil {
		panic("contract: the example account has no fingerprint: " + err.Error())
	}
	return whole
}
