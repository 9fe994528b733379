package contract

import (
	"context"
	"encoding/json"
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

// PostedNote is the result for one note of a request.
type PostedNote struct {
	sent            *rules.Node
	createdAt       time.Time // as the account has it
	status          string
	differs         []string // fields that differ from the existing note
	includeWarnings bool
	warnings        []landfall.Violation
}

// Posted returns the result for one note of the request: its creation time on
// the account, and the note that already existed, nil for a new one.
func (r *NotesRequest) Posted(index int, createdAt time.Time, had *landfall.Note) PostedNote {
	posted := PostedNote{sent: r.list("notes").Items()[index], createdAt: createdAt, status: NoteCreated}
	if had != nil {
		posted.status, posted.differs = NoteAlreadyExists, noteDifferences(posted.sent, *had)
	}
	return posted
}

// noteDifferences returns the fields that were sent and differ from the existing
// note. Notes are matched by their external_id or body, so without this,
// different documents would be lost silently.
func noteDifferences(sent *rules.Node, had landfall.Note) []string {
	var found []string
	// Only a note with an external_id can differ in what identifies other notes.
	if body := sent.Field("body"); body.Present() && body.Text() != had.Body {
		found = append(found, "body")
	}
	if created := sent.Field("created_at"); created.Present() && !created.Instant().Equal(had.CreatedAt) {
		found = append(found, "created_at")
	}
	if sent.Field("document_paths").Present() && !bindNote(sent).SameDocuments(had) {
		found = append(found, "document_paths")
	}
	if pinned := sent.Field("is_pinned"); pinned.Present() && pinned.Bool() != had.Pinned {
		found = append(found, "is_pinned")
	}
	if unpin := sent.Field("unpin_at"); unpin.Present() && !unpin.Instant().Equal(had.UnpinAt) {
		found = append(found, "unpin_at")
	}
	return append(found, extraDifferences(sent, noteTable, had.Extra)...)
}

// WithWarnings adds those warnings of the request that are about this note. A
// response that is a list has no other place for them.
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

// NoteBody is the result for a note, with the optional fields that were sent.
var NoteBody = &Body[PostedNote]{
	name: "NoteResult", doc: "Result for one note.",
	members: []bodyMember[PostedNote]{
		timeMember("created_at", "Creation time of the note on the account.", func(n PostedNote) time.Time { return n.createdAt }),
		nullableString("body", "Null for a note that only has documents.", func(n PostedNote) (string, bool) {
			body := n.sent.Field("body")
			return body.Text(), body.Present()
		}),
		stringMember("status", "", func(n PostedNote) string { return n.status }).withSchema(enumSchema(NoteCreated, NoteAlreadyExists)),
		noteMember("document_paths", arraySchema(anyObjectSchema)),
		noteMember("is_pinned", booleanSchema),
		timeMember("unpin_at", "Included if sent.", func(n PostedNote) time.Time { return n.sent.Field("unpin_at").Instant() }).
			onlyIf(func(n PostedNote) bool { return n.sent.Field("unpin_at").Present() }),
		stringMember("external_id", "Included if sent.", func(n PostedNote) string { return n.sent.Field("external_id").Text() }).
			onlyIf(func(n PostedNote) bool { return n.sent.Field("external_id").Text() != "" }),
		packFieldsMember(func(n PostedNote) string { return extraOf(n.sent, noteTable) }),
		differencesMember("note", func(n PostedNote) []string { return n.differs }),
		warningsMember(func(n PostedNote) ([]landfall.Violation, bool) { return n.warnings, n.includeWarnings }),
	},
	example: exampleRequest(ReadNotes, ExampleNotes).Posted(0, time.Date(2025, 11, 3, 18, 20, 0, 0, time.UTC), nil),
}

// noteMember declares a member that is repeated as sent.
func noteMember(name string, schema map[string]any) bodyMember[PostedNote] {
	return rawMember(name, "Included if sent.", schema, func(n PostedNote) []byte { return []byte(n.sent.Field(name).Raw()) }).
		onlyIf(func(n PostedNote) bool { return n.sent.Field(name).Present() })
}

// differencesMember declares the member that lists the fields that differ.
func differencesMember[T any](what string, of func(T) []string) bodyMember[T] {
	return bodyMember[T]{
		name: "differences", schema: arraySchema(stringSchema),
		doc:     "For a " + what + " that already existed: dotted paths of the fields that differ.",
		present: func(t T) bool { return len(of(t)) > 0 },
		write:   func(dst []byte, t T) []byte { return appendAny(dst, of(t)) },
	}
}

// NotesBody is the response to adding notes.
var NotesBody = &List[PostedNote]{name: "NoteResultList", items: NoteBody}

// exampleRequest reads an example request. It panics if the example is invalid.
func exampleRequest[Request any](read func(context.Context, []byte) (*Request, error), body string) *Request {
	request, err := read(context.Background(), []byte(body))
	if err != nil {
		panic("contract: an example cannot be read: " + err.Error())
	}
	return request
}

// PostedTransaction is the result for one transaction of a request.
type PostedTransaction struct {
	Transaction landfall.Transaction
	Added       bool
	// Differences lists the fields that differ from the existing transaction.
	Differences []string
}

// TransactionBody is the result for a transaction.
var TransactionBody = &Body[PostedTransaction]{
	name: "TransactionResult", doc: "Result for one transaction.",
	members: []bodyMember[PostedTransaction]{
		stringMember("status", "", func(t PostedTransaction) string {
			if t.Added {
				return TransactionAdded
			}
			return TransactionAlreadyExists
		}).withSchema(enumSchema(TransactionAdded, TransactionAlreadyExists)),
		{
			name: "transaction_data", schema: anyObjectSchema,
			doc: "The transaction as sent, with its amount as a string.",
			write: func(dst []byte, t PostedTransaction) []byte {
				return AppendTransaction(dst, t.Transaction)
			},
		},
		differencesMember("transaction", func(t PostedTransaction) []string { return t.Differences }),
	},
	example: PostedTransaction{Added: true, Transaction: exampleRequest(ReadTransactions, ExampleTransactions).Transactions()[0]},
}

// PostedTransactions is the result for all transactions of a request.
type PostedTransactions struct {
	Results         []PostedTransaction
	DryRun          bool
	IncludeWarnings bool
	Warnings        []landfall.Violation
}

// TransactionsBody is the response to adding transactions.
var TransactionsBody = &Body[PostedTransactions]{
	name: "TransactionResults", doc: "Results for the transactions.",
	members: []bodyMember[PostedTransactions]{
		listMember("results", "", TransactionBody, func(t PostedTransactions) []PostedTransaction { return t.Results }),
		boolMember("dry_run", "Present and true for a dry run: nothing was added.", func(t PostedTransactions) bool { return t.DryRun }).
			onlyIf(func(t PostedTransactions) bool { return t.DryRun }),
		warningsMember(func(t PostedTransactions) ([]landfall.Violation, bool) { return t.Warnings, t.IncludeWarnings }),
	},
	example: PostedTransactions{Results: []PostedTransaction{TransactionBody.example}},
}

// ExampleTransactionsDryRun is the response to a dry run.
func ExampleTransactionsDryRun() json.RawMessage {
	return TransactionsBody.Append(nil, PostedTransactions{Results: TransactionsBody.example.Results, DryRun: true})
}

// StatementsBody is the response to adding historical statements.
var StatementsBody = &Body[Echo]{
	name: "AcceptedStatements", doc: "The statements as sent, with warnings if requested.", open: true,
	members: []bodyMember[Echo]{
		echoedMember("import_supplier", stringSchema), echoedMember("external_account_number", stringSchema),
		echoedMember("statements", arraySchema(anyObjectSchema)), addedMember(echoAdded), warningsMember(echoWarnings),
	},
	write:   appendEcho,
	example: Echo{Body: []byte(ExampleStatements)},
}

// PostedInstruction is a payment instruction on an account.
type PostedInstruction struct {
	Number, Reference string
	IncludeAdded      bool // the caller asked whether it was new
	Added             int
	IncludeWarnings   bool
	Warnings          []landfall.Violation
}

// InstructionBody is the response to adding a payment instruction.
var InstructionBody = &Body[PostedInstruction]{
	name: "CreatedInstruction", doc: "A payment instruction on an account.",
	members: []bodyMember[PostedInstruction]{
		stringMember("platform_account_number", accountNumberDoc, func(k PostedInstruction) string { return k.Number }),
		stringMember("reference", "Reference of the instruction at the vendor.", func(k PostedInstruction) string { return k.Reference }),
		addedMember(func(k PostedInstruction) (int, bool) { return k.Added, k.IncludeAdded }),
		warningsMember(func(k PostedInstruction) ([]landfall.Violation, bool) { return k.Warnings, k.IncludeWarnings }),
	},
	example: PostedInstruction{Number: exampleNumber, Reference: exampleReference},
}
