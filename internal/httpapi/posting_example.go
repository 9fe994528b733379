package httpapi

// The examples of creation and of what follows it. A test sends the requests
// among them, one after the other, and they must all be accepted.

// forAccount is what every request about one account begins with.
func forAccount(rest ...member) object {
	return append(object{{"import_supplier", "DEMO_ENERGY"}, {"external_account_number", "EXT-0001"}}, rest...)
}

var (
	exampleProcess = object{
		{"import_supplier_code", "DEMO_ENERGY"},
		{"external_account_number", "EXT-0001"},
		{"operations_team_name", "Migration Team"},
	}
	exampleCreated = object{
		{"platform_account_number", "A-7K2M9QXZ"},
		{"external_account_number", "EXT-0001"},
	}
	exampleDryRun = failure("The account would successfully import. It was rolled back due to the dry run.", "dry_run_rolled_back")
)

var (
	exampleNotes = forAccount(member{"notes", []object{{
		{"body", "Prefers to be called in the evening."},
		{"created_at", "2025-11-03T18:20:00Z"},
		{"is_pinned", true},
	}}})
	exampleNoteResults = []object{{
		{"created_at", "2025-11-03T18:20:00Z"},
		{"body", "Prefers to be called in the evening."},
		{"status", "NOTE_CREATION_SUCCESS"},
		{"is_pinned", true},
	}}
	exampleEmptyNote = refusal("The request is not valid.", "validation_failed",
		"A note needs a body or a document path.", "note_body_or_document_path_required", "notes.0.body")
)

var (
	exampleTransactions = forAccount(member{"transactions", []object{{
		{"transaction_id", "T-1001"},
		{"transaction_date", "2025-11-03"},
		{"amount", 52.5},
		{"type", "PAYMENT"},
		{"reference", "NOV-DD"},
		{"payment_type", "DD_REGULAR_COLLECTION"},
	}}})
	exampleTransactionResults = object{{"results", []object{{
		{"status", "TRANSACTION_ADDED_TO_ACCOUNT"},
		{"transaction_data", object{
			{"transaction_id", "T-1001"},
			{"transaction_date", "2025-11-03"},
			{"amount", "52.50"},
			{"type", "PAYMENT"},
			{"reference", "NOV-DD"},
			{"payment_type", "DD_REGULAR_COLLECTION"},
		}},
	}}}}
	exampleTransactionError = append(refusal("The transaction is not within the open statement period.",
		"transaction_outside_open_statement_period", "The transaction is not within the open statement period.",
		"transaction_outside_open_statement_period", "transactions.0.transaction_date"), object{
		{"transaction_data", object{
			{"transaction_id", "T-1001"},
			{"transaction_date", "2019-11-03"},
			{"amount", "52.50"},
			{"type", "PAYMENT"},
		}},
		{"error_detail", "The transaction is not within the open statement period."},
		{"status", "TRANSACTION_IMPORT_ERROR"},
	}...)
)

var (
	exampleStatements = forAccount(member{"statements", []object{{
		{"statement_id", "ST-77"},
		{"bill_period_from_date", "2025-07-01"},
		{"bill_period_to_date", "2025-09-30"},
		{"issued_date", "2025-10-02"},
		{"number", "77"},
		{"gross_amount", 184.1},
		{"statement_path", "statements/ST-77.pdf"},
	}}})
	exampleStatementError = refusal("The account has a statement with this statement_id and other content.",
		"historical_statement_already_exists", "The account has a statement with this statement_id and other content.",
		"historical_statement_already_exists", "statements.0.statement_id")
)

var (
	exampleInstruction = forAccount(member{"vendor", "SANDBOX"}, member{"reference", "pm_1001"}, member{"type", "CARD"})

	exampleInstructionKept = object{
		{"platform_account_number", "A-7K2M9QXZ"},
		{"reference", "pm_1001"},
	}
	exampleInstructionError = refusal("The vendor knows no such payment instruction.", "payment_instruction_not_found",
		"The vendor knows no such payment instruction.", "payment_instruction_not_found", "reference")
)

var (
	exampleFailed = []object{{
		{"external_account_number", "EXT-0002"},
		{"failed_at", "2026-03-01T09:30:00Z"},
		{"dry_run", false},
		{"code", "account_failed_validation"},
		{"detail", "The account is not valid."},
		{"errors", []object{{
			{"detail", "This is not a possible phone number."},
			{"code", "invalid_phone_number"},
			{"attr", "customers.0.landline"},
		}}},
	}}
	exampleSummary = []object{{
		{"code", "invalid_phone_number"},
		{"attr", "customers.*.landline"},
		{"accounts", 12},
		{"alone", 9},
	}}
)

// refusal is an error body that points at one thing.
func refusal(detail, code, itemDetail, itemCode, attr string) object {
	return object{
		{"detail", detail},
		{"code", code},
		{"errors", []object{{{"detail", itemDetail}, {"code", itemCode}, {"attr", attr}}}},
	}
}
