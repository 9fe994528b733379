package httpapi

// The examples of the reference. A test sends those that can be sent.

var exampleAccount = object{
	{"import_supplier", "DEMO_ENERGY"},
	{"external_account_number", "EXT-0001"},
	{"customers", []object{{
		{"given_name", "Ada"},
		{"family_name", "Example"},
		{"email", "ada@example.com"},
		{"landline", "020 7946 0018"},
	}}},
}

var exampleStaged = object{
	{"import_supplier", "DEMO_ENERGY"},
	{"external_account_number", "EXT-0001"},
}

var exampleRefusal = object{
	{"detail", "The account has 1 problem."},
	{"code", "account_failed_validation"},
	{"errors", []object{{
		{"detail", "This is not a possible phone number."},
		{"code", "invalid_phone_number"},
		{"attr", "customers.0.landline"},
	}}},
}

var exampleImported = object{
	{"detail", "This account has already been imported."},
	{"code", "account_already_imported"},
	{"errors", []object{}},
	{"external_account_number", "EXT-0001"},
	{"platform_account_number", "A-7K2M9QXZ"},
}

var exampleStatus = object{
	{"status", "COMPLETED"},
	{"platform_account_number", "A-7K2M9QXZ"},
}

var (
	examplePendingEntry = object{
		{"external_account_number", "EXT-0002"},
		{"platform_account_number", nil},
		{"account_created_at", nil},
	}
	exampleImportedEntry = object{
		{"external_account_number", "EXT-0001"},
		{"platform_account_number", "A-7K2M9QXZ"},
		{"account_created_at", "2026-03-01T09:30:00Z"},
	}
	exampleAll          = []object{exampleImportedEntry, examplePendingEntry}
	examplePending      = []object{examplePendingEntry}
	exampleImportedList = []object{exampleImportedEntry}
)

var (
	exampleNotFound   = failure("There is no account for this import supplier and external account number.", "account_not_found")
	exampleNoSupplier = failure("There is no import supplier with this code.", "import_supplier_does_not_exist")
	exampleBadLimit   = object{
		{"detail", "The request has 1 problem."},
		{"code", "validation_failed"},
		{"errors", []object{{
			{"detail", "Must be a whole number from 1 to 10000."},
			{"code", "out_of_range"},
			{"attr", "limit"},
		}}},
	}
)

// failure is an error body with nothing to point at.
func failure(detail, code string) object {
	return object{{"detail", detail}, {"code", code}, {"errors", []object{}}}
}

var exampleRules = object{
	{"rules", []object{{
		{"code", "phone_number_not_assigned"},
		{"where", "customers.*.landline"},
		{"severity", "off"},
		{"meaning", "The phone number is possible but in no range that is in use."},
	}}},
	{"codes", []object{{
		{"code", "account_not_found"},
		{"status", []int{404}},
		{"where", "answer"},
		{"severity", "error"},
		{"meaning", "There is no such account."},
	}}},
}

var exampleTokenRequest = object{
	{"query", "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token expiresIn refreshToken refreshExpiresIn } }"},
	{"variables", object{{"key", "<API_KEY>"}}},
}

var exampleToken = object{
	{"data", object{{"obtainServiceToken", object{
		{"token", "<ACCESS_TOKEN>"},
		{"expiresIn", 3600},
		{"refreshToken", "<REFRESH_TOKEN>"},
		{"refreshExpiresIn", 604800},
	}}}},
}

var exampleTokenRefused = object{
	{"errors", []object{{{"message", "The request is not understood."}}}},
}

var (
	exampleHealth = object{{"status", "ok"}}
	exampleReady  = object{{"status", "ready"}}
)
