package httpapi

import (
	"net/http"

	"landfall/internal/api/contract"
)

const tagPosting = "After creation"

var processDoc = &operationDoc{
	id: "processAccount", tag: tagImport, summary: "Create an account from its staged data",
	description: "Validates the staged data again and creates the account with all its data in one step. " +
		"Each external account number results in exactly one account, even with repeated or concurrent requests. " +
		"With `dry_run`, the same work is done and rolled back; only the record of the attempt remains.",
	query:   []parameter{includeWarnings},
	request: requestContent("ProcessRequest", contract.ExampleProcess),
	responses: []responseDoc{
		{http.StatusCreated, "The account was created.", responseContent(contract.CreatedBody), nil},
		{http.StatusBadRequest, "No account was created. The account violates a rule (`account_failed_validation`), has already been " +
			"imported (`account_already_imported`, with both account numbers), was not staged (`import_process_does_not_exist`), is " +
			"marked as skipped (`account_marked_as_skipped`), is currently being imported (`account_import_in_progress`); the " +
			"team does not exist (`operations_team_does_not_exist`); the supplier is paused or complete " +
			"(`import_supplier_migration_not_ongoing`); a document is missing (`path_does_not_exist_in_file_store`); or a payment vendor rejects a " +
			"payment instruction. A successful dry run returns `dry_run_rolled_back`.",
			errorContent(exampleDryRun), nil},
		{http.StatusTooManyRequests, "Too many accounts are being created at the same time (`concurrency_limit_exceeded`), or your organisation is over a quota (`quota_exceeded`).",
			errorContent(exampleOverLimit), []string{"Retry-After"}},
	},
}

var notesDoc = &operationDoc{
	id: "createNotes", tag: tagPosting, summary: "Add notes to an imported account",
	description: "A note is added only if the account has no note with the same `body` and, if `created_at` is given, the same " +
		"`created_at`. Notes without a body are compared by their document paths. The order is kept. With `include_warnings`, each " +
		"entry of the response has its own `warnings` list.",
	query:   []parameter{includeWarnings},
	request: requestContent("NotesRequest", contract.ExampleNotes),
	responses: []responseDoc{
		{http.StatusCreated, "One entry for each note.", responseContent(contract.NotesBody), nil},
		{http.StatusBadRequest, "A note violates a rule (`validation_failed`), a document is missing " +
			"(`path_does_not_exist_in_file_store`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleEmptyNote), nil},
		{http.StatusNotFound, "No account was imported under this supplier code and external account number.",
			errorContent(exampleNoAccount), nil},
	},
}

var transactionsDoc = &operationDoc{
	id: "createTransactions", tag: tagPosting, summary: "Add transactions to an imported account",
	description: "Either all transactions are added or none. Amounts are returned as strings with two decimals, or three if they have them. If the date of a transaction was moved, " +
		"`original_transaction_date` has the original date. For a transaction that already existed, `differences` lists the fields that differ.",
	query: []parameter{
		{
			name:        "check_previously_added",
			description: "Skips transactions whose `transaction_id` is already on the account. With `false`, they are added again.",
			schema:      object{{"type", "boolean"}, {"default", true}}, example: true,
		},
		{
			name: "force_add_to_current_statement",
			description: "If a transaction is outside the open statement period, moves its date to the nearest day in the period, explains this in its " +
				"note and pins a note to the account. With `false`, such a transaction is refused.",
			schema: object{{"type", "boolean"}, {"default", true}}, example: true,
		},
		{
			name: "dry_run", description: "Says what would be added, with status 200, and adds nothing.",
			schema: object{{"type", "boolean"}, {"default", false}}, example: false,
		},
		includeWarnings,
	},
	request: requestContent("TransactionsRequest", contract.ExampleTransactions),
	responses: []responseDoc{
		{http.StatusCreated, "One result for each transaction.", responseContent(contract.TransactionsBody), nil},
		{http.StatusOK, "A dry run: one result for each transaction as it would be. Nothing was added.",
			&mediaContent{schema: contract.TransactionsBody.Name(), example: contract.ExampleTransactionsDryRun()}, nil},
		{http.StatusBadRequest, "Nothing was added. `transaction_data` has the first transaction that failed. It violates a rule " +
			"(`validation_failed`, `duplicate_transaction_ids`) or is outside the open statement period " +
			"(`transaction_outside_open_statement_period`). If no single transaction is at fault, the account has not been imported " +
			"(`account_not_found`) or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			exampleTransactionError, nil},
	},
}

var statementsDoc = &operationDoc{
	id: "createHistoricalStatements", tag: tagPosting, summary: "Add historical statements to an imported account",
	description: "Sending the same statement again is accepted and changes nothing. The response repeats the data as sent.",
	query:       []parameter{includeAdded, includeWarnings},
	request:     requestContent("StatementsRequest", contract.ExampleStatements),
	responses: []responseDoc{
		{http.StatusCreated, "The statements were stored. The body is the data as sent.",
			responseContent(contract.StatementsBody), nil},
		{http.StatusBadRequest, "A statement violates a rule (`validation_failed`), differs from an existing one with the same `statement_id` " +
			"(`historical_statement_already_exists`), its document is missing (`path_does_not_exist_in_file_store`), the account has not been " +
			"imported (`account_not_found`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleStatementError), nil},
	},
}

var instructionDoc = &operationDoc{
	id: "createPaymentInstruction", tag: tagPosting, summary: "Add a payment instruction to an imported account",
	description: "Looks up the instruction at the payment vendor and stores the vendor's details. Sending the same instruction " +
		"again changes nothing; sending it with different content is refused.",
	query:   []parameter{includeAdded, includeWarnings},
	request: requestContent("PaymentInstructionRequest", contract.ExampleInstruction),
	responses: []responseDoc{
		{http.StatusCreated, "The instruction was stored.", responseContent(contract.InstructionBody), nil},
		{http.StatusBadRequest, "Do not retry the request as it is. It violates a rule (`validation_failed`); the vendor is not " +
			"configured (`payment_vendor_does_not_exist`), does not have the instruction (`payment_instruction_not_found`), has it " +
			"with a different type (`payment_instruction_type_mismatch`) or has deactivated it (`payment_instruction_inactive`); the account " +
			"already has it with different content (`payment_instruction_already_exists`, with the `differences`); the vendor is " +
			"permanently unavailable (`payment_vendor_rejected`, `payment_vendor_out_of_service`); the account has not been imported " +
			"(`account_not_found`), or the supplier is paused (`import_supplier_migration_not_ongoing`).",
			errorContent(exampleInstructionError), nil},
		{http.StatusInternalServerError, "A temporary failure, such as a vendor that does not respond " +
			"(`payment_vendor_unavailable`). Send the same request again.",
			errorContent(exampleVendorUnavailable),
			[]string{"Retry-After"}},
	},
}

var failedDoc = &operationDoc{
	id: "failedAccountImportProcesses", tag: tagStatus, summary: "List accounts of a supplier that failed",
	description: "Each entry has the reason: the last refused staging or the last failed attempt, whichever is newer, including dry " +
		"runs. Sorted by external account number. For a refused staging, only the codes and paths are stored. An account leaves this list when it " +
		"is staged successfully after a refusal, is imported, is marked as skipped or passes a dry run.",
	query: paging,
	responses: []responseDoc{
		{http.StatusOK, "The list.", responseContent(contract.FailedListBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var duplicatesDoc = &operationDoc{
	id: "duplicateAccounts", tag: tagStatus, summary: "List pairs of accounts that share an identifier",
	description: "Each entry is two accounts that exist or are staged and have the same supply point, payment instruction, reference or number at the same " +
		"time. At least one of them is of the supplier; the other one may be of another supplier that has an organisation in common with it. Only the " +
		"rules that are not off for the supplier are listed, or the one that you ask for.",
	query: append([]parameter{{
		name: "rule", description: "Only pairs that break this rule, even if it is off.", schema: object{{"type", "string"}, {"enum", contract.AcrossCodes()}},
	}}, paging...),
	responses: []responseDoc{
		{http.StatusOK, "The list.", responseContent(contract.DuplicateListBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var summaryDoc = &operationDoc{
	id: "errorSummary", tag: tagStatus, summary: "Summarise why accounts of a supplier fail",
	description: "Failures grouped by code and path, most frequent first, and the smallest sets of groups to fix that free 50, " +
		"80 and 95 percent of the accounts. Only known failures are counted: payment vendors and documents are checked once the data " +
		"is valid.",
	responses: []responseDoc{
		{http.StatusOK, "The groups and the sets of groups to fix.", responseContent(contract.SummaryBody), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}
