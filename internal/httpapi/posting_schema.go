package httpapi

// postingSchemas describes the answers of creation, of what is added to an
// account afterwards, and of the lists of failures.
func postingSchemas() object {
	text := object{{"type", "string"}}
	number := describe(text, "Number of the created account.")
	warnings := object{{"type", "array"}, {"items", ref("Violation")}}
	sent := object{{"type", "object"}, {"description", "The transaction as it was sent, its amount as a string with two decimals."}}
	return object{
		{"CreatedAccount", closedObject("A created account.", []string{"platform_account_number", "external_account_number"}, object{
			{"platform_account_number", number},
			{"external_account_number", text},
		})},
		{"NoteResultList", object{{"type", "array"}, {"items", ref("NoteResult")}}},
		{"NoteResult", closedObject("What became of a note.", []string{"created_at", "body", "status"}, object{
			{"created_at", describe(object{{"type", "string"}, {"format", "date-time"}}, "The time the note has on the account.")},
			{"body", describe(object{{"type", []string{"string", "null"}}}, "Null for a note of documents alone.")},
			{"status", object{{"type", "string"}, {"enum", []string{"NOTE_CREATION_SUCCESS", "NOTE_ALREADY_EXISTS"}}}},
			{"document_paths", describe(object{{"type", "array"}, {"items", object{{"type", "object"}}}}, "When sent.")},
			{"is_pinned", describe(object{{"type", "boolean"}}, "When sent.")},
			{"unpin_at", describe(object{{"type", "string"}, {"format", "date-time"}}, "When sent.")},
			{"warnings", warnings},
		})},
		{"TransactionResults", closedObject("What became of the transactions.", []string{"results"}, object{
			{"results", object{{"type", "array"}, {"items", ref("TransactionResult")}}},
			{"warnings", warnings},
		})},
		{"TransactionResult", closedObject("What became of a transaction.", []string{"status", "transaction_data"}, object{
			{"status", object{{"type", "string"}, {"enum", []string{"TRANSACTION_ADDED_TO_ACCOUNT", "TRANSACTION_ALREADY_EXISTS"}}}},
			{"transaction_data", sent},
			{"differences", describe(object{{"type", "array"}, {"items", text}},
				"With a transaction that was there already: dotted paths of the fields that are not the same.")},
		})},
		{"TransactionImportError", object{
			{"type", "object"},
			{"description", "A refused request: the common error form and the first transaction that fails."},
			{"required", []string{"detail", "code", "errors", "transaction_data", "error_detail", "status"}},
			{"properties", object{
				{"detail", describe(text, "For people. Its wording may change.")},
				{"code", describe(text, "For machines. It is stable.")},
				{"errors", object{{"type", "array"}, {"items", ref("Violation")}}},
				{"transaction_data", describe(object{
					{"type", []string{"object", "array", "string", "number", "boolean", "null"}}, {"items", object{}},
				}, "The transaction as it was sent; null when none in particular is at fault.")},
				{"error_detail", describe(text, "Why that transaction fails.")},
				{"status", object{{"type", "string"}, {"enum", []string{"TRANSACTION_IMPORT_ERROR"}}}},
			}},
		}},
		{"AcceptedStatements", object{
			{"type", "object"},
			{"description", "The statements as they were sent, with a list of warnings when they were asked for."},
			{"required", []string{"import_supplier", "external_account_number", "statements"}},
			{"properties", object{
				{"import_supplier", text},
				{"external_account_number", text},
				{"statements", object{{"type", "array"}, {"items", object{{"type", "object"}}}}},
				{"warnings", warnings},
			}},
		}},
		{"CreatedInstruction", closedObject("A payment instruction on an account.", []string{"platform_account_number", "reference"}, object{
			{"platform_account_number", number},
			{"reference", describe(text, "The instruction's reference at the vendor.")},
		})},
		{"FailedProcessList", object{{"type", "array"}, {"items", ref("FailedProcess")}}},
		{"FailedProcess", closedObject("An account whose last attempt failed.",
			[]string{"external_account_number", "failed_at", "dry_run", "code", "detail", "errors"}, object{
				{"external_account_number", text},
				{"failed_at", object{{"type", "string"}, {"format", "date-time"}}},
				{"dry_run", describe(object{{"type", "boolean"}}, "Whether the attempt was a dry run.")},
				{"code", text},
				{"detail", text},
				{"errors", object{{"type", "array"}, {"items", ref("Violation")}}},
			})},
		{"ErrorGroupList", object{{"type", "array"}, {"items", ref("ErrorGroup")}}},
		{"ErrorGroup", closedObject("Failures that look the same.", []string{"code", "attr", "accounts", "alone"}, object{
			{"code", text},
			{"attr", describe(text, "The place, with `*` for any index; empty for a failure of the whole account.")},
			{"accounts", describe(object{{"type", "integer"}}, "How many accounts have it.")},
			{"alone", describe(object{{"type", "integer"}}, "How many of those have nothing else wrong.")},
		})},
	}
}
