package contract

import "landfall/internal/api/rules"

// noteTable serves the account object and the notes endpoint.
var noteTable = rules.NewTable("Note", "A remark on an account, for support to read.",
	rules.Optional("body", rules.Text(maxProse), "The text; needed unless there are document paths."),
	rules.Optional("document_paths", rules.List(0, maxDocumentPaths, rules.Object(documentPathTable)), "Documents that belong to the note; needed unless there is a body."),
	rules.Optional("created_at", rules.Datetime(), "When the note was made; the time of the import when left out."),
	rules.Optional("is_pinned", rules.Boolean(), "Shows the note on top of the account's support page."),
	rules.Optional("unpin_at", rules.Datetime(), "Until when a pinned note is shown on top."),
)

var documentPathTable = rules.NewTable("DocumentPath", "A document below the supplier's document root.",
	rules.Required("document_path", documentPathText, "Where the document is."),
)

// accountTableOf declares the two fields that name the account in a request.
func accountTableOf(name, doc string, fields ...rules.Field) *rules.Table {
	return rules.NewTable(name, doc, append([]rules.Field{
		rules.Required("import_supplier", rules.NonEmpty(maxSupplier), "The import supplier's code."),
		rules.Required("external_account_number", externalNumberText, "The account's number in the other supplier's system."),
	}, fields...)...)
}

// processTable calls the supplier import_supplier_code, unlike all others: the
// interface has it that way, and the other name is refused here.
var processTable = rules.NewTable("ProcessRequest", "Asks for an account to be created from staged data.",
	rules.Required("external_account_number", externalNumberText, "The account's number in the other supplier's system."),
	rules.Required("import_supplier_code", rules.NonEmpty(maxSupplier), "The import supplier's code."),
	rules.Required("operations_team_name", rules.NonEmpty(maxTeamName), "The team that will look after the account; it must exist."),
	rules.Optional("dry_run", rules.Boolean(), "Does everything and takes it back; nothing is created."),
)

// An empty list is accepted and changes nothing.
var notesTable = accountTableOf("NotesRequest", "Notes for an imported account.",
	rules.Required("notes", rules.List(0, maxNotes, rules.Object(noteTable)), "The notes, kept in this order."),
)

var transactionsTable = accountTableOf("TransactionsRequest", "Transactions for an imported account; all are added or none.",
	rules.Required("transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "The transactions, added in this order."),
)

var statementsTable = accountTableOf("StatementsRequest", "Historical statements for an imported account.",
	rules.Required("statements", rules.List(0, maxStatements, rules.Object(statementTable)), "The statements."),
)

var instructionTable = accountTableOf("PaymentInstructionRequest", "A payment instruction for an imported account.",
	rules.Required("vendor", codeText, "Code of the payment vendor, as the operator configured it."),
	rules.Required("reference", rules.NonEmpty(255), "The instruction's reference at the vendor."),
	rules.Required("type", instructionTypes, "The kind of instruction."),
	rules.Optional("valid_from", rules.Date(), "First day the instruction may be used."),
	rules.Optional("use_for_scheduled_payments", rules.Boolean(), "Whether payment schedules collect with it."),
)
