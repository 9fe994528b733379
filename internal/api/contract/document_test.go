package contract

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"landfall/internal/api/pack"
)

var update = flag.Bool("update", false, "write the generated documents again")

// TestDocumentsAreCurrent compares the checked-in pages with the current tables.
// Run make generate to update the pages.
func TestDocumentsAreCurrent(t *testing.T) {
	for name, want := range generatedDocuments(t) {
		path := "../../../docs/" + name
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is not current; run make generate", name)
		}
	}
}

// generatedDocuments returns all pages and schemas generated from the tables.
func generatedDocuments(t *testing.T) map[string]string {
	t.Helper()
	documents := map[string]string{"errors.md": ErrorsMarkdown(), "account.md": AccountMarkdown(), "event-types.md": EventsMarkdown()}
	for _, name := range pack.BuiltinNames() {
		code, _, _ := pack.SplitName(name)
		documents["packs/"+code+".md"] = packMarkdown(t, name)
	}
	for _, kind := range EventKinds() {
		schema, ok := EventSchema(string(kind.Type))
		if !ok {
			t.Fatalf("%s has no schema", kind.Type)
		}
		documents["event-schemas/"+string(kind.Type)+".json"] = string(schema)
	}
	return documents
}

func TestDocumentsNameEverything(t *testing.T) {
	errors, account := ErrorsMarkdown(), AccountMarkdown()
	for _, entry := range Codes() {
		if !strings.Contains(errors, "`"+entry.Code+"`") {
			t.Errorf("docs/errors.md does not explain %s", entry.Code)
		}
	}
	for _, table := range requestTables {
		for _, each := range reachable(table) {
			for _, field := range each.Fields {
				if !strings.Contains(account, "| `"+field.Name+"` |") {
					t.Errorf("docs/account.md does not explain %s.%s", each.Name, field.Name)
				}
			}
		}
	}
}

// TestSchemasMatchTheReader checks bodies with the reader and with a
// third-party validator against the published schema.
func TestSchemasMatchTheReader(t *testing.T) {
	schema := accountSchema(t)
	// The validator refuses null where any value is allowed, as OpenAPI 3.0 did.
	large := strings.Replace(string(readTestFile(t, "large.json")), `"value": null`, `"value": 0`, 1)
	for body, want := range map[string]bool{
		smallest:                                true,
		large:                                   true,
		string(readTestFile(t, "typical.json")): true,
		accountJSON(`"unknown_occupier":null`):  true,
		accountJSON(`"unknown_field":1`):        false,
		accountJSON(`"customers":[{"middle_name":"x"}]`):                                                    false,
		accountJSON(`"customers":{}`):                                                                       false,
		accountJSON(`"account_type":"CHURCH"`):                                                              false,
		accountJSON(`"document_accessibility":""`):                                                          true,
		accountJSON(`"business_type":"two words"`):                                                          false,
		accountJSON(`"transfer_balance":"1.2345"`):                                                          false,
		accountJSON(`"transfer_balance":"1.23"`):                                                            true,
		accountJSON(`"transfer_balance":true`):                                                              false,
		accountJSON(`"account_billing_options":{"period_start_day":29}`):                                    false,
		accountJSON(`"sales_channel":"` + strings.Repeat("x", 65) + `"`):                                    false,
		accountJSON(`"metadata":[{"key":"a","value":{"any":[1,null]}}]`):                                    true,
		accountJSON(`"references":[{"namespace":"a"}]`):                                                     false,
		accountJSON(`"customers":[{"landline":"CALL ME"}]`):                                                 false,
		accountJSON(`"customers":[{"landline":""}]`):                                                        true,
		accountJSON(`"payment_instructions":[{"vendor":"V","reference":"r","type":"CASH"}]`):                false,
		accountJSON(`"payment_instructions":[{"vendor":"V","reference":"r","type":"CARD","valid_from":1}]`): false,
	} {
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		schemaErr := schema.VisitJSON(value)
		accepted := !mustRead(t, body).document.Report().Failed()
		if (schemaErr == nil) != want || accepted != want {
			t.Errorf("schema %v, reader %v, want %v:\n%s\n%v", schemaErr == nil, accepted, want, body, schemaErr)
		}
	}
}

func accountSchema(t *testing.T) *openapi3.Schema {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "t", "version": "1"}, "paths": map[string]any{},
		"components": map[string]any{"schemas": Schemas()},
	})
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	return document.Components.Schemas["Account"].Value
}
