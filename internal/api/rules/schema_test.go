package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func byName(table *Table) string { return "#/$defs/" + table.Name }

func TestWalk(t *testing.T) {
	var paths []string
	thing.Walk(func(path string, _ Field) { paths = append(paths, path) })
	for _, want := range []string{"name", "part", "part.id", "parts", "parts.*.id", "parts.*.any", "words"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not among %v", want, paths)
		}
	}
	if slices.Index(paths, "part.id") < slices.Index(paths, "part") || slices.Index(paths, "parts") < slices.Index(paths, "part.any") {
		t.Errorf("not depth first in declared order: %v", paths)
	}
}

func TestSchemaOfAField(t *testing.T) {
	properties := thing.Schema(byName)["properties"].(map[string]any)
	for field, want := range map[string]string{
		"name":            `{"description":"What it is called.","maxLength":5,"minLength":1,"type":"string"}`,
		"choice":          `{"enum":["A","B",null],"type":["string","null"]}`,
		"choice_or_empty": `{"enum":["","A","B",null],"type":["string","null"]}`,
		"code":            `{"maxLength":10,"minLength":1,"pattern":"^[0-9]+$","type":["string","null"]}`,
		"count":           `{"maximum":12,"minimum":1,"type":["integer","null"]}`,
		"day":             `{"format":"date","type":["string","null"]}`,
		"part":            `{"oneOf":[{"$ref":"#/$defs/Part"},{"type":"null"}]}`,
		"parts":           `{"items":{"$ref":"#/$defs/Part"},"maxItems":3,"minItems":1,"type":["array","null"]}`,
		"any":             `{}`,
	} {
		got, err := json.Marshal(properties[field])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, strings.NewReplacer(`\u003c`, "<").Replace(string(got))); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

// The reader and the schema accept the same bodies, except for the few things
// that JSON Schema cannot express.
func TestSchemaAndReaderAgree(t *testing.T) {
	part := thing.Fields[thing.index["part"]].Type.Table
	root := thing.Schema(byName)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	definitions := NumberSchemas()
	definitions["Part"] = part.Schema(byName)
	root["$defs"] = definitions
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("thing.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("thing.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"name":"x"}`, `{}`, `{"name":null}`, `{"name":"x","text":null,"part":null,"parts":null,"choice":null,"amount":null}`, `{"name":""}`,
		`{"name":"123456"}`, `{"name":"😀😀😀😀😀"}`, `{"name":1.5}`, `{"name":"x","foo":1}`, `{"name":"x","part":{}}`, `{"name":"x","part":{"id":"1","x":1}}`,
		`{"name":"x","choice":"a"}`, `{"name":"x","choice_or_empty":""}`, `{"name":"x","code":"1x"}`, `{"name":"x","code":"12"}`,
		`{"name":"x","flag":1}`, `{"name":"x","count":13}`, `{"name":"x","count":12}`, `{"name":"x","count":1.5}`, `{"name":"x","amount":"1.50"}`,
		`{"name":"x","amount":"1.505"}`, `{"name":"x","amount":"1.5000"}`, `{"name":"x","amount":"1e2"}`, `{"name":"x","amount":"01"}`, `{"name":"x","amount":true}`, `{"name":"x","amount":-1.5}`,
		`{"name":"x","rate":"0.1234567890"}`, `{"name":"x","rate":"0.12345678901"}`, `{"name":"x","day":"2024-02-29"}`, `{"name":"x","day":"2023-02-29"}`,
		`{"name":"x","at":"2024-02-29T00:00:00Z"}`, `{"name":"x","at":"2024-02-29T00:00:00"}`, `{"name":"x","parts":[]}`, `{"name":"x","words":["a","b","c"]}`,
		`{"name":"x","words":[null]}`, `{"name":"x","parts":[{"id":"1"}]}`, `{"name":"x","any":[1,{"a":null}]}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		byReader, bySchema := len(problems(t, body)) == 0, schema.Validate(value) == nil
		if byReader != bySchema {
			t.Errorf("%s: the reader accepts: %v, the schema accepts: %v", body, byReader, bySchema)
		}
	}
}
