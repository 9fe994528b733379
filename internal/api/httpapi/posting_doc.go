package httpapi

import (
	"net/http"

	"landfall/internal/api/contract"
)

const tagPosting = "After creation"

var processDoc = &operation{
	id: "processAccount", tag: tagImport, summary: "Create an account from its staged data",
	description: "Applies every rule again to the staged data and creates the account with everything on it in one step. " +
		"Exactly one account can come out of one external account number, whatever is repeated or runs at the same time. " +
		"With `dry_run` the same work is done and taken back; nothing but the record of the attempt remains.",
	query:   []parameter{includeWarnings},
	request: requestContent("ProcessRequest", contract.ExampleProcess),
	responses: []response{
		{http.StatusCreated, "The account was created.", responseContent(contract.CreatedBody), nil},
		{http.StatusBadRequest, "No account was created. The account breaks a rule (`account_failed_validation`), was imported " +
			"already (`account_already_imported`, with both account numbers), was not staged (`import_process_does_not_exist`), is " +
			"marked to be skipped (`account_marked_as_skipped`), is being imported right now (`account_import_in_progress`); the " +
			"team does not exist (`operations_team_does_not_exist`); the supplier is paused or complete " +
			"(`import_supplier_migration_not_ongoing`); a document is missing (`path_does_not_exist_in_file_store`); a vendor refuses a " +
			"payment instruction. A dry run that would have succeeded is `dry_run_rolled_back`.",
			errorContent(exampleDryRun), nil},
		{http.StatusTooManyRequests, "Too many accounts are being created at once. Try again when others have finished.",
			errorContent(exampleOverLimit), []string{"Retry-After"}},
	},
}

var notesDoc = &operation{
	id: "createNotes", tag: tagPosting, summary: "Add notes to an imported account",
	description: "A note is created only if no note on the account has the same `body` and, if `created_at` is given, the same " +
		"`created_at`. Notes without a body are compared by their document paths. Order is kept. With `include_warnings` each " +
		"entry of the answer has a `warnings` list of its own.",
	query:   []parameter{includeWarnings},
	request: requestContent("NotesRequest", contract.ExampleNotes),
	responses: []response{
		{http.StatusCreated, "One entry for each note.", responseContent(contract.NotesBody), nil},
		{http.StatusBadRequest, "A note breaks a rule (`validation_failed`), a document is missing " +
			"(`path_does_not_exist_in_file_store`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleEmptyNote), nil},
		{http.StatusNotFound, "No account was imported under this supplier code and external account number.",
			errorContent(exampleNoAccount), nil},
	},
}

var transactionsDoc = &operation{
	id: "createTransactions", tag: tagPosting, summary: "Add transactions to an imported account",
	description: "All are added or none. Amounts come back as strings with two decimals. A transaction whose date was moved shows " +
		"the original one as `original_transaction_date`; one that was there already lists the fields that differ, if any, as `differences`.",
	query: []parameter{
		{
			name:        "check_previously_added",
			description: "Skips transactions whose `transaction_id` is on the account already. With `false` they are added again.",
			schema:      object{{"type", "boolean"}, {"default", true}}, example: true,
		},
		{
			name: "force_add_to_current_statement",
			description: "Moves the date of a transaction outside the open statement period to the nearest day inside it, says so in its " +
				"note, and pins a note to the account. With `false` such a transaction is refused.",
			schema: object{{"type", "boolean"}, {"default", true}}, example: true,
		},
		includeWarnings,
	},
	request: requestContent("TransactionsRequest", contract.ExampleTransactions),
	responses: []response{
		{http.StatusCreated, "One result for each transaction.", responseContent(contract.TransactionsBody), nil},
		{http.StatusBadRequest, "Nothing was added. The first transaction that fails is in `transaction_data`. It breaks a rule " +
			"(`validation_failed`, `duplicate_transaction_ids`) or lies outside the open statement period " +
			"(`transaction_outside_open_statement_period`). Without such a transaction: the account is not imported " +
			"(`account_not_found`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			exampleTransactionError, nil},
	},
}

var statementsDoc = &operation{
	id: "createHistoricalStatements", tag: tagPosting, summary: "Add historical statements to an imported account",
	description: "The same statement sent again is accepted and changes nothing. The answer is the data as it was sent.",
	query:       []parameter{includeAdded, includeWarnings},
	request:     requestContent("StatementsRequest", contract.ExampleStatements),
	responses: []response{
		{http.StatusCreated, "The statements are kept; the body is the data as it was sent.",
			responseContent(contract.StatementsBody), nil},
		{http.StatusBadRequest, "A statement breaks a rule (`validation_failed`), contradicts one with the same `statement_id` " +
			"(`historical_statement_already_exists`), its document is missing (`path_does_not_exist_in_file_store`), the account is not " +
			"imported (`account_not_found`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleStatementError), nil},
	},
}

var instructionDoc = &operation{
	id: "createPaymentInstruction", tag: tagPosting, summary: "Add a payment instruction to an imported account",
	description: "Asks the payment vendor whether the instruction exists, and keeps what he says about it. The same instruction " +
		"again is kept once and answered alike; in other words it is refused.",
	query:   []parameter{includeAdded, includeWarnings},
	request: requestContent("PaymentInstructionRequest", contract.ExampleInstruction),
	responses: []response{
		{http.StatusCreated, "The instruction is kept.", responseContent(contract.InstructionBody), nil},
		{http.StatusBadRequest, "Do not repeat the request in the same form. It breaks a rule (`validation_failed`); the vendor is not " +
			"configured (`payment_vendor_does_not_exist`); he knows no such instruction (`payment_instruction_not_found`), has it " +
			"under another type (`payment_instruction_type_mismatch`) or not in use (`payment_instruction_inactive`); the account has it " +
			"in other words (`payment_instruction_already_exists`, with the `differences`); he cannot be " +
			"asked for good (`payment_vendor_rejected`, `payment_vendor_out_of_service`); the account is not imported " +
			"(`account_not_found`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleInstructionError), nil},
		{http.StatusInternalServerError, "Something went wrong that may pass, such as a vendor that does not answer " +
			"(`payment_vendor_unavailable`). Send the same request again.",
			errorContent(exampleVendorAway),
			[]string{"Retry-After"}},
	},
}

var failedDoc = &operation{
	id: "failedAccountImportProcesses", tag: tagStatus, summary: "Accounts of a supplier that do not get on",
	description: "With the reason of each: its last refused staging or its last failed attempt, whichever is newer, dry runs " +
		"included, by external account number. Of a refused staging codes and places are kept. An account leaves this list when it " +
		"is staged after a refusal, imported, marked to be skipped, or passes a dry run.",
	query: paging,
	responses: []response{
		{http.StatusOK, "The list.", responseContent(contract.FailedListBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is not what it should be.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}

var summaryDoc = &operation{
	id: "errorSummary", tag: tagStatus, summary: "Why accounts of a supplier fail, grouped",
	description: "The reasons by code and place, the most frequent first, and the shortest lists of them whose repair frees 50, " +
		"80 and 95 percent of the accounts. Only known mistakes are counted: payment vendors and documents are asked once the data " +
		"is right.",
	responses: []response{
		{http.StatusOK, "The groups and repairs.", responseContent(contract.SummaryBody), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}
