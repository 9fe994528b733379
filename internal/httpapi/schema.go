package httpapi

import "slices"

// answerSchemas describes the bodies that go out. The bodies that come in are
// described by their own tables.
func answerSchemas() object {
	text := object{{"type", "string"}}
	return object{
		{"Error", object{
			{"type", "object"},
			{"description", "Every error, whatever its status. Some codes add members of their own."},
			{"required", []string{"detail", "code", "errors"}},
			{"properties", object{
				{"detail", describe(text, "For people. Its wording may change.")},
				{"code", describe(text, "For machines. It is stable.")},
				{"errors", object{{"type", "array"}, {"items", ref("Violation")}}},
				{"external_account_number", describe(text, "With `account_already_imported`.")},
				{"platform_account_number", describe(text, "With `account_already_imported`.")},
			}},
		}},
		{"Violation", object{
			{"type", "object"},
			{"description", "One thing wrong with a request. It never repeats the offending value."},
			{"required", []string{"detail", "code", "attr"}},
			{"properties", object{
				{"detail", describe(text, "For people. Its wording may change.")},
				{"code", describe(text, "For machines. It is stable.")},
				{"attr", describe(text, "Dotted path of the input: field names and zero-based indexes.")},
			}},
		}},
		{"ValidatedAccount", object{
			{"type", "object"},
			{"description", "The account as it was sent, with a list of warnings when they were asked for."},
			{"required", []string{"import_supplier", "external_account_number", "customers"}},
			{"properties", object{
				{"import_supplier", text},
				{"external_account_number", text},
				{"customers", object{{"type", "array"}, {"items", object{{"type", "object"}}}}},
				{"warnings", object{{"type", "array"}, {"items", ref("Violation")}}},
			}},
		}},
		{"StagedAccount", closedObject("What was staged.", []string{"import_supplier", "external_account_number"}, object{
			{"import_supplier", text},
			{"external_account_number", text},
			{"warnings", object{{"type", "array"}, {"items", ref("Violation")}}},
		})},
		{"TransferStatus", closedObject("How far an account is.", []string{"status", "platform_account_number"}, object{
			{"status", object{{"type", "string"}, {"enum", []string{"UNKNOWN", "IN_PROGRESS", "COMPLETED"}}}},
			{"platform_account_number", describe(text, "Empty until the account exists.")},
		})},
		{"AccountImportProcessList", object{
			{"type", "array"},
			{"items", ref("AccountImportProcess")},
		}},
		{"AccountImportProcess", closedObject("One account on its way.",
			[]string{"external_account_number", "platform_account_number", "account_created_at"}, object{
				{"external_account_number", text},
				{"platform_account_number", object{{"type", []string{"string", "null"}}}},
				{"account_created_at", object{{"type", []string{"string", "null"}}, {"format", "date-time"}}},
			})},
		{"RuleBook", closedObject("Rules and codes.", []string{"rules", "codes"}, object{
			{"rules", describe(object{{"type", "array"}, {"items", ref("Rule")}},
				"The cross-field rules. The operator may set their severity for each supplier.")},
			{"codes", describe(object{{"type", "array"}, {"items", ref("Code")}},
				"Every code a body can carry, those of the rules included.")},
		})},
		{"Rule", closedObject("One rule.", []string{"code", "where", "severity", "meaning"}, object{
			{"code", text},
			{"where", describe(text, "The `attr` it points at, with `*` for any index.")},
			{"severity", ref("Severity")},
			{"meaning", text},
		})},
		{"Code", closedObject("One code.", []string{"code", "status", "where", "severity", "meaning"}, object{
			{"code", text},
			{"status", object{{"type", "array"}, {"items", object{{"type", "integer"}}}}},
			{"where", text},
			{"severity", ref("Severity")},
			{"meaning", text},
		})},
		{"Severity", object{
			{"type", "string"},
			{"description", "What a broken rule does by default: refuse, accept and tell, or nothing."},
			{"enum", []string{"error", "warning", "off"}},
		}},
		{"TokenRequest", object{
			{"type", "object"},
			{"description", "A GraphQL request."},
			{"required", []string{"query"}},
			{"properties", object{
				{"query", text},
				{"operationName", object{{"type", []string{"string", "null"}}}},
				{"variables", object{{"type", []string{"object", "null"}}}},
			}},
		}},
		{"TokenResponse", object{
			{"type", "object"},
			{"description", "A GraphQL answer: `data`, or `errors`, or both."},
			{"properties", object{
				{"data", object{{"type", []string{"object", "null"}}}},
				{"errors", object{{"type", "array"}, {"items", object{{"type", "object"}}}}},
			}},
		}},
		{"Health", closedObject("A probe's answer.", []string{"status"}, object{{"status", text}})},
		{"OpenAPI", object{{"type", "object"}, {"description", "An OpenAPI 3.1 document."}}},
	}
}

// closedObject is a body without any other members.
func closedObject(description string, required []string, properties object) object {
	return object{
		{"type", "object"},
		{"description", description},
		{"required", required},
		{"properties", properties},
		{"additionalProperties", false},
	}
}

func describe(schema object, description string) object {
	return append(slices.Clip(schema), member{"description", description})
}

func ref(schema string) object {
	return object{{"$ref", "#/components/schemas/" + schema}}
}
