package contract

import "landfall/internal/api/rules"

// noteTable serves the account object and the notes endpoint.
var noteTable = rules.NewTable("Note", "A remark on an account, for support to read.",
	rules.May("body", rules.Text(maxProse), "The text; needed unless there are document paths."),
	rules.May("document_paths", rules.List(0, maxDocumentPaths, rules.Object(documentPathTable)), "Documents that belong to the note; needed unless there is a body."),
	rules.May("created_at", rules.Datetime(), "When the note was made; the time of the import when left out."),
	rules.May("is_pinned", rules.Boolean(), "Shows the note on top of the account's support page."),
	rules.May("unpin_at", rules.Datetime(), "Until when a pinned note is shown on top."),
)

var documentPathTable = rules.NewTable("DocumentPath", "A document below the supplier's document root.",
	rules.Need("document_path", documentPath, "Where the document is."),
)

// envelope declares the two fields that name the account in a request.
func envelope(name, doc string, fields ...rules.Field) *rules.Table {
	return rules.NewTable(name, doc, append([]rules.Field{
		rules.Need("import_supplier", rules.Name(maxSupplier), "The import supplier's code."),
		rules.Need("external_account_number", externalNumber, "The account's number in the other supplier's system."),
	}, fields...)...)
}

// processTable calls the supplier import_supplier_code, unlike all others: the
// interface has it that way, and the other name is refused here.
var processTable = rules.NewTable("ProcessRequest", "Asks for an account to be created from staged data.",
	rules.Need("external_account_number", externalNumber, "The account's number in the other supplier's system."),
	rules.Need("import_supplier_code", rules.Name(maxSupplier), "The import supplier's code."),
	rules.Need("operations_team_name", rules.Name(maxTeamName), "The team that will look after the account; it must exist."),
	rules.May("dry_run", rules.Boolean(), "Does everything and takes it back; nothing is created."),
)

// An empty list is accepted and changes nothing.
var notesTable = envelope("NotesRequest", "Notes for an imported account.",
	rules.Need("notes", rules.List(0, maxNotes, rules.Object(noteTable)), "The notes, kept in this order."),
)

var transactionsTable = envelope("TransactionsRequest", "Transactions for an imported account; all are added or none.",
	rules.Need("transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "The transactions, added in this order."),
)

var statementsTable = envelope("StatementsRequest", "Historical statements for an imported account.",
	rules.Need("statements", rules.List(0, maxStatements, rules.Object(statementTable)), "The statements."),
)

var instructionTable = envelope("PaymentInstructionRequest", "A payment instruction for an imported account.",
	rules.Need("vendor", code, "Code of the payment vendor, as the operator configured it."),
	rules.Need("reference", rules.Name(255), "The instruction's reference at the vendor."),
	rules.Need("type", instructionTypes, "The kind of instruction."),
	rules.May("valid_from", rules.Date(), "First day the instruction may be used."),
	rules.May("use_for_scheduled_payments", rules.Boolean(), "Whether payment schedules collect with it."),
)
