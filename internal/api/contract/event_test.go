package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"landfall"
)

// Exactly the event types of the root package are declared here.
func TestEveryTypeOfEventIsDeclared(t *testing.T) {
	used := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "../../../event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Event") && len(spec.Values) == 1 {
			text, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			used[text] = true
		}
		return true
	})
	declared := map[string]bool{}
	for _, kind := range EventKinds() {
		declared[string(kind.Type)] = true
	}
	if len(used) < 12 || !maps.Equal(used, declared) {
		t.Errorf("used: %v\ndeclared: %v", slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(declared)))
	}
}

// schemaOf compiles the published schema of an event type with a third-party
// validator.
func schemaOf(t *testing.T, of landfall.EventType) *jsonschema.Schema {
	t.Helper()
	text, _ := EventSchema(string(of))
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("urn:"+string(of), parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("urn:" + string(of))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestEventsMatchTheirSchemas(t *testing.T) {
	for _, kind := range EventKinds() {
		schema := schemaOf(t, kind.Type)
		valid := func(event CloudEvent) error {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(EventBody.Append(nil, event)))
			if err != nil {
				t.Fatal(err)
			}
			return schema.Validate(value)
		}
		event := kind.Example()
		if err := valid(event); err != nil {
			t.Errorf("%s: %v", kind.Type, err)
		}
		event.Source = UnnamedSource
		for _, member := range kind.members {
			if !member.always {
				delete(event.Details, member.name)
			}
		}
		if err := valid(event); err != nil {
			t.Errorf("%s without what may be left out: %v", kind.Type, err)
		}
		event.Details["a_later_detail"] = "x"
		if err := valid(event); err != nil {
			t.Errorf("%s with more: %v", kind.Type, err)
		}
		for _, member := range kind.members {
			if member.schema["type"] != "string" {
				event.Details[member.name] = "many"
				if valid(event) == nil {
					t.Errorf("%s: %s may be anything", kind.Type, member.name)
				}
			}
		}
		event.Type = "another.type"
		if valid(event) == nil {
			t.Errorf("%s: its schema takes other types", kind.Type)
		}
	}
}

// Every detail that code adds to an event is declared; otherwise receivers would
// find no documentation of it.
func TestDetailsAreDeclared(t *testing.T) {
	known := map[string]bool{}
	for _, kind := range EventKinds() {
		for _, member := range kind.members {
			known[member.name] = true
		}
	}
	files, _ := filepath.Glob("../../*/*/*.go")
	more, _ := filepath.Glob("../../../*.go")
	for _, name := range append(files, more...) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "storetest") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			pair, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			field, isName := pair.Key.(*ast.Ident)
			values, isMap := pair.Value.(*ast.CompositeLit)
			if !isName || field.Name != "Details" || !isMap {
				return true
			}
			for _, element := range values.Elts {
				member, isPair := element.(*ast.KeyValueExpr)
				if !isPair {
					continue
				}
				if literal, isText := member.Key.(*ast.BasicLit); isText {
					if detail, _ := strconv.Unquote(literal.Value); !known[detail] {
						t.Errorf("%s writes the detail %q, which no type of event declares", name, detail)
					}
				}
			}
			return true
		})
	}
}

func TestEventsOnTheWire(t *testing.T) {
	event := CloudEvent{Source: "https://landfall.example.com", Event: landfall.Event{
		ID: 7, Type: landfall.EventNotesCreated, Key: landfall.Key{Supplier: "ACME", External: `a/b "c"`},
		AccountNumber: "A-00000001", At: time.UnixMicro(1_700_000_000_000_001).UTC(), Details: map[string]string{"count": "2"},
	}}
	const want = `{"specversion":"1.0","id":"7-gqll7vatq9","source":"https://landfall.example.com","type":"post_import.notes_created",` +
		`"subject":"ACME/a/b \"c\"","time":"2023-11-14T22:13:20Z","datacontenttype":"application/json",` +
		`"dataschema":"https://landfall.example.com/v1/data-import/event-schemas/post_import.notes_created/",` +
		`"data":{"import_supplier":"ACME","external_account_number":"a/b \"c\"","platform_account_number":"A-00000001","count":2}}`
	got := string(EventBody.Append(nil, event))
	if got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	place, ok := ParseEventID("7-gqll7vatq9")
	if place != 7 || !ok {
		t.Errorf("its place is %d, %v", place, ok)
	}
	for _, bad := range []string{"", "7", "-1", "0-a", "7-", "x-1", "7-!"} {
		if _, ok := ParseEventID(bad); ok {
			t.Errorf("%q names an event", bad)
		}
	}
}

func TestFeedCursors(t *testing.T) {
	for _, place := range []landfall.EventPosition{{}, {ID: 1, At: time.UnixMicro(5).UTC()}, {ID: 1 << 60, At: time.UnixMicro(1 << 50).UTC()}, {PurgedThrough: 7}, {ID: 3, At: time.UnixMicro(5).UTC(), PurgedThrough: 1 << 60}} {
		filter := []string{"", "NORTH"}[place.ID&1]
		text := EncodeEventCursor(place, filter)
		if got, supplier, sound := DecodeEventCursor(text); !sound || supplier != filter || got.ID != place.ID || got.PurgedThrough != place.PurgedThrough || !got.At.Equal(place.At) {
			t.Errorf("%+v comes back as %+v, %q, %v", place, got, supplier, sound)
		}
		for _, bad := range []string{text[1:], text + "A", text[:len(text)-1] + "!", strings.ToLower(text) + "=", EncodeCursor(landfall.ProcessCursor{External: "1"})} {
			if _, _, sound := DecodeEventCursor(bad); sound {
				t.Errorf("%q is taken for a cursor", bad)
			}
		}
	}
	all, north := EncodeEventCursor(landfall.EventPosition{ID: 1}, ""), EncodeEventCursor(landfall.EventPosition{ID: 1}, "NORTH")
	for raw, attr := range map[string]string{
		"after=" + all: "", "after=" + north + "&import_supplier_code=NORTH": "", "after=" + north: "after",
		"after=" + north + "&import_supplier_code=SOUTH": "after", "after=" + all + "&import_supplier_code=NORTH": "after",
		"": "", "wait=60&limit=1000&import_supplier_code=A": "", "wait=61": "wait", "limit=0": "limit", "limit=1001": "limit", "after=x": "after", "since=1": "since",
	} {
		_, err := ReadFeedQuery(raw)
		refusal, _ := errors.AsType[*landfall.Error](err)
		if (err == nil) != (attr == "") || err != nil && refusal.Violations[0].Attr != attr {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
