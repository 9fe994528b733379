package convert

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"landfall/internal/lib/yamltree"
)

var update = flag.Bool("update", false, "write the generated files again")

const schemaPage = "../../../docs/conversion-map.schema.json"

func TestSchemaIsWritten(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaPage, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(schemaPage)
	if err != nil || !bytes.Equal(kept, Schema()) {
		t.Errorf("%s is not what the code says (%v): make generate", schemaPage, err)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("map.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("map.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance reads YAML as the checker of an editor does.
func instance(t *testing.T, text string) any {
	t.Helper()
	root, err := yamltree.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return typed(root)
}

func typed(node *yamltree.Node) any {
	switch node.Kind {
	case yamltree.Mapping:
		object := map[string]any{}
		for _, member := range node.Members {
			object[member.Name] = typed(member.Node)
		}
		return object
	case yamltree.List:
		list := []any{}
		for _, item := range node.Items {
			list = append(list, typed(item))
		}
		return list
	case yamltree.Scalar:
		if isNumber(node.Text) && !node.Quoted {
			return json.Number(node.Text)
		}
		if node.Text == "true" || node.Text == "false" {
			return node.Text == "true"
		}
		return node.Text
	}
	return nil
}

func TestSchemaTakesMapsAndRefusesMistakes(t *testing.T) {
	schema := compiled(t)
	good, err := os.ReadFile("../generate/oldsystem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(instance(t, string(good))); err != nil {
		t.Error(err)
	}
	for name, change := range map[string][2]string{
		"an unknown setting":     {"supplier:", "suplier:"},
		"an unknown attr":        {"given_name:", "givven_name:"},
		"an unknown encoding":    {"windows-1252", "ebcdic"},
		"an unknown table word":  {"link: POINT_ID", "links: POINT_ID"},
		"an unknown expression":  {"minor_units: 2, sign", "minor: 2, sign"},
		"an unknown sign":        {"sign: reversed", "sign: inverted"},
		"a place without a name": {"- place: LEDGER.line_items", "- plaice: LEDGER.line_items"},
	} {
		spoilt := strings.Replace(string(good), change[0], change[1], 1)
		if spoilt == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if schema.Validate(instance(t, spoilt)) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestSchemaKnowsEverySetting compares the schema with the settings that are read.
func TestSchemaKnowsEverySetting(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Properties map[string]any
		}
		Defs map[string]struct {
			Properties map[string]any
			OneOf      []struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for name, both := range map[string][2][]string{
		"map":    {slices.Collect(maps.Keys(schema.Properties)), mapSettings},
		"source": {slices.Collect(maps.Keys(schema.Properties["source"].Properties)), dialectSettings},
		"table":  {slices.Collect(maps.Keys(schema.Defs["table"].Properties)), slices.Concat(tableSettings, placeSettings, dialectSettings)},
		"place":  {slices.Collect(maps.Keys(schema.Defs["place"].Properties)), append([]string{"place"}, placeSettings...)},
		"attr":   {slices.Collect(maps.Keys(schema.Defs["attr"].OneOf[1].Properties)), slices.Clone(valueSettings)},
	} {
		slices.Sort(both[0])
		slices.Sort(both[1])
		if !slices.Equal(both[0], both[1]) {
			t.Errorf("%s: the schema has %q, the reader %q", name, both[0], both[1])
		}
	}
}
