package contract

import "landfall/internal/api/rules"

var noteTable = rules.NewTable("Note", "A note on an account for support staff.",
	rules.Optional("body", rules.Text(maxProse), "Text of the note. Required if there are no document paths."),
	rules.Optional("document_paths", rules.List(0, maxDocumentPaths, rules.Object(documentPathTable)), "Documents attached to the note. Required if there is no body."),
	rules.Optional("created_at", rules.Datetime(), "When the note was written. Defaults to the time of the import."),
	rules.Optional("is_pinned", rules.Boolean(), "Pins the note to the top of the account's support page."),
	rules.Optional("unpin_at", rules.Datetime(), "When to unpin the note."),
	rules.Optional("external_id", identifierText, "Identifier of the note in the source system. A note with the external_id of an existing note is that note, whatever its body."),
)

var documentPathTable = rules.NewTable("DocumentPath", "A document in the file store.",
	rules.Required("document_path", documentPathText, "Path of the document, relative to the supplier's document root."),
)

// accountTableOf declares a request about one account: the two fields that
// identify the account, and the given ones.
func accountTableOf(name, doc string, fields ...rules.Field) *rules.Table {
	return rules.NewTable(name, doc, append([]rules.Field{
		rules.Required("import_supplier", rules.NonEmpty(maxSupplier), supplierDoc),
		rules.Required("external_account_number", externalNumberText, externalNumberDoc),
	}, fields...)...)
}

// processTable calls the supplier import_supplier_code, unlike all other
// requests. That is how the interface has it; the other name is refused here.
var processTable = rules.NewTable("ProcessRequest", "Creates an account from its staged data.",
	rules.Required("external_account_number", externalNumberText, externalNumberDoc),
	rules.Required("import_supplier_code", rules.NonEmpty(maxSupplier), supplierDoc),
	rules.Required("operations_team_name", rules.NonEmpty(maxTeamName), "Name of the team that will look after the account. The team must exist."),
	rules.Optional("dry_run", rules.Boolean(), dryRunDoc),
)

const dryRunDoc = "Runs every step and rolls it back, so that nothing is created."

// The lists below may be empty; an empty list changes nothing.
var (
	notesTable = accountTableOf("NotesRequest", "Adds notes to an imported account.",
		rules.Required("notes", rules.List(0, maxNotes, rules.Object(noteTable)), "The notes, added in this order."),
	)
	transactionsTable = accountTableOf("TransactionsRequest", "Adds transactions to an imported account. Either all of them are added or none.",
		rules.Required("transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "The transactions, added in this order."),
	)
	statementsTable = accountTableOf("StatementsRequest", "Adds historical statements to an imported account.",
		rules.Required("statements", rules.List(0, maxStatements, rules.Object(statementTable)), "The statements."),
	)
	instructionTable = accountTableOf("PaymentInstructionRequest", "Adds a payment instruction to an imported account.", instructionFields...)
)
