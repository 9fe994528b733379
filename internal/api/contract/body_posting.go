package contract

import (
	"context"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// The statuses of a posted note.
const (
	NoteCreated       = "NOTE_CREATION_SUCCESS"
	NoteAlreadyExists = "NOTE_ALREADY_EXISTS"
)

// PostedNote is what became of one note of a request.
type PostedNote struct {
	sent            *rules.Node
	createdAt       time.Time // as the account has it
	status          string
	differs         []string // fields that are not as the account has them, when it had the note already
	includeWarnings bool
	warnings        []landfall.Violation
}

// Posted tells what became of a note of the request: the time it has on the
// account, and the note that the account had already, nil for a new one.
func (r *NotesRequest) Posted(index int, createdAt time.Time, had *landfall.Note) PostedNote {
	posted := PostedNote{sent: r.list("notes").Items()[index], createdAt: createdAt, status: NoteCreated}
	if had != nil {
		posted.status, posted.differs = NoteAlreadyExists, noteDifferences(posted.sent, *had)
	}
	return posted
}

// noteDifferences names the fields of a note that were sent and are not what the
// account has. By its body alone it counts as there, so its documents would be
// lost without a word.
func noteDifferences(sent *rules.Node, had landfall.Note) []string {
	var found []string
	if sent.Field("document_paths").Present() && !bindNote(sent).SameDocuments(had) {
		found = append(found, "document_paths")
	}
	if pinned := sent.Field("is_pinned"); pinned.Present() && pinned.Bool() != had.Pinned {
		found = append(found, "is_pinned")
	}
	if unpin := sent.Field("unpin_at"); unpin.Present() && !unpin.Instant().Equal(had.UnpinAt) {
		found = append(found, "unpin_at")
	}
	return found
}

// WithWarnings adds those of a request's warnings that are about this note. An
// answer that is a list has no other place for them than beside the item.
func (n PostedNote) WithWarnings(warnings []landfall.Violation) PostedNote {
	item := n.sent.Attr()
	n.includeWarnings = true
	for _, warning := range warnings {
		if warning.Attr == item || strings.HasPrefix(warning.Attr, item+".") {
			n.warnings = append(n.warnings, warning)
		}
	}
	return n
}

// NoteBody tells what became of a note, with the optional fields that were sent.
var NoteBody = &Body[PostedNote]{
	name: "NoteResult", doc: "What became of a note.",
	members: []member[PostedNote]{
		timeMember("created_at", "The time the note has on the account.", func(n PostedNote) time.Time { return n.createdAt }),
		nullableString("body", "Null for a note of documents alone.", func(n PostedNote) (string, bool) {
			body := n.sent.Field("body")
			return body.Text(), body.Present()
		}),
		stringMember("status", "", func(n PostedNote) string { return n.status }).withSchema(enumSchema(NoteCreated, NoteAlreadyExists)),
		noteMember("document_paths", arraySchema(anyObjectSchema)),
		noteMember("is_pinned", booleanSchema),
		timeMember("unpin_at", "When sent.", func(n PostedNote) time.Time { return n.sent.Field("unpin_at").Instant() }).
			onlyIf(func(n PostedNote) bool { return n.sent.Field("unpin_at").Present() }),
		differencesMember("note", func(n PostedNote) []string { return n.differs }),
		warningsMember(func(n PostedNote) ([]landfall.Violation, bool) { return n.warnings, n.includeWarnings }),
	},
	example: exampleRequest(ReadNotes, ExampleNotes).Posted(0, time.Date(2025, 11, 3, 18, 20, 0, 0, time.UTC), nil),
}

// noteMember declares a member that is repeated as it was sent.
func noteMember(name string, schema map[string]any) member[PostedNote] {
	return rawMember(name, "When sent.", schema, func(n PostedNote) []byte { return []byte(n.sent.Field(name).Raw()) }).
		onlyIf(func(n PostedNote) bool { return n.sent.Field(name).Present() })
}

// differencesMember declares the member that names what the account has otherwise.
func differencesMember[T any](what string, of func(T) []string) member[T] {
	return member[T]{
		name: "differences", schema: arraySchema(stringSchema),
		doc:     "With a " + what + " that was there already: dotted paths of the fields that are not the same.",
		present: func(t T) bool { return len(of(t)) > 0 },
		write:   func(dst []byte, t T) []byte { return appendAny(dst, of(t)) },
	}
}

// NotesBody answers a posting of notes.
var NotesBody = &List[PostedNote]{name: "NoteResultList", items: NoteBody}

// exampleRequest reads an example request, which cannot be wrong.
func exampleRequest[Request any](read func(context.Context, []byte) (*Request, error), body string) *Request {
	request, err := read(context.Background(), []byte(body))
	if err != nil {
		panic("contract: an example cannot be read: " + err.Error())
	}
	return request
}

// PostedTransaction is what became of one transaction of a request.
type PostedTransaction struct {
	Transaction landfall.Transaction
	Added       bool
	// Differences names the fields that are not as the account has them, when
	// it had the transaction already.
	Differences []string
}

// TransactionBody tells what became of a transaction. One that was there
// already is told together with the fields that differ, if any.
var TransactionBody = &Body[PostedTransaction]{
	name: "TransactionResult", doc: "What became of a transaction.",
	members: []member[PostedTransaction]{
		stringMember("status", "", func(t PostedTransaction) string {
			if t.Added {
				return TransactionAdded
			}
			return TransactionAlreadyExists
		}).withSchema(enumSchema(TransactionAdded, TransactionAlreadyExists)),
		{
			name: "transaction_data", schema: anyObjectSchema,
			doc: "The transaction as it was sent, its amount as a string with two decimals.",
			write: func(dst []byte, t PostedTransaction) []byte {
				return AppendTransaction(dst, t.Transaction)
			},
		},
		differencesMember("transaction", func(t PostedTransaction) []string { return t.Differences }),
	},
	example: PostedTransaction{Added: true, Transaction: exampleRequest(ReadTransactions, ExampleTransactions).Transactions()[0]},
}

// PostedTransactions is what became of a request's transactions.
type PostedTransactions struct {
	Results         []PostedTransaction
	IncludeWarnings bool
	Warnings        []landfall.Violation
}

// TransactionsBody answers a posting of transactions.
var TransactionsBody = &Body[PostedTransactions]{
	name: "TransactionResults", doc: "What became of the transactions.",
	members: []member[PostedTransactions]{
		listMember("results", "", TransactionBody, func(t PostedTransactions) []PostedTransaction { return t.Results }),
		warningsMember(func(t PostedTransactions) ([]landfall.Violation, bool) { return t.Warnings, t.IncludeWarnings }),
	},
	example: PostedTransactions{Results: []PostedTransaction{TransactionBody.example}},
}

// StatementsBody answers a posting of historical statements.
var StatementsBody = &Body[Echo]{
	name: "AcceptedStatements", doc: "The statements as they were sent, with a list of warnings when they were asked for.", open: true,
	members: []member[Echo]{
		echoedMember("import_supplier", stringSchema), echoedMember("external_account_number", stringSchema),
		echoedMember("statements", arraySchema(anyObjectSchema)), addedMember(echoAdded), warningsMember(echoWarnings),
	},
	write:   appendEcho,
	example: Echo{Body: []byte(ExampleStatements)},
}

// PostedInstruction is a payment instruction that an account has.
type PostedInstruction struct {
	Number, Reference string
	IncludeAdded      bool // the caller asked whether it was new
	Added             int
	IncludeWarnings   bool // though no rule warns about an instruction yet
}

// InstructionBody answers a posting of a payment instruction.
var InstructionBody = &Body[PostedInstruction]{
	name: "CreatedInstruction", doc: "A payment instruction on an account.",
	members: []member[PostedInstruction]{
		stringMember("platform_account_number", accountNumberDoc, func(k PostedInstruction) string { return k.Number }),
		stringMember("reference", "The instruction's reference at the vendor.", func(k PostedInstruction) string { return k.Reference }),
		addedMember(func(k PostedInstruction) (int, bool) { return k.Added, k.IncludeAdded }),
		warningsMember(func(k PostedInstruction) ([]landfall.Violation, bool) { return nil, k.IncludeWarnings }),
	},
	example: PostedInstruction{Number: exampleNumber, Reference: exampleReference},
}
