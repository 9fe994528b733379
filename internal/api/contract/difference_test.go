package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/rules"
)

func TestAccountDifferencesByMeaning(t *testing.T) {
	base := `{"import_supplier":"S","external_account_number":"1","customers":[{"given_name":"Ann","mobile":""}],
		"transfer_balance":10,"consents":[{"type":"A","value":"ACCEPTED","signed_at":"2024-01-01T12:00:00Z"}],
		"metadata":[{"key":"k","value":{"a":1,"b":[1.50]}}]}`
	for _, c := range []struct{ change, into string }{
		{`"transfer_balance":10`, `"transfer_balance":"10.00"`},
		{`12:00:00Z`, `13:00:00.000+01:00`},
		{`{"a":1,"b":[1.50]}`, `{ "b":[15e-1], "a":1.0}`},
		{`,"mobile":""`, ``},
		{`"given_name":"Ann"`, `"given_name":"\u0041nn","family_name":null`},
	} {
		later := strings.Replace(base, c.change, c.into, 1)
		if later == base {
			t.Fatalf("%s is not in the account", c.change)
		}
		if found, err := AccountDifferences([]byte(base), []byte(later)); err != nil || len(found) > 0 {
			t.Errorf("%s: found %v, %v", c.into, found, err)
		}
	}
	for _, c := range []struct{ change, into, want string }{
		{`"b":[1.50]`, `"b":[1.50000000000000000000001]`, "[metadata.0.value]"},
		{`12:00:00Z`, `12:00:00.5Z`, "[consents.0.signed_at]"},
		{`"given_name":"Ann",`, ``, "[customers.0.given_name]"},
		{`"given_name":"Ann"`, `"given_name":"Ann","family_name":""`, "[customers.0.family_name]"},
		{`[{"given_name"`, `[{},{"given_name"`, "[customers.0.given_name customers.1]"},
		{`"customers":`, `"notes":[],"customers":`, "[notes]"},
		{`"S"`, `"T"`, "[import_supplier]"},
	} {
		later := strings.Replace(base, c.change, c.into, 1)
		if found, err := AccountDifferences([]byte(base), []byte(later)); err != nil || fmt.Sprint(found) != c.want {
			t.Errorf("%s: found %v, %v; want %s", c.into, found, err, c.want)
		}
	}
}

func TestAtMostAHundredDifferences(t *testing.T) {
	many := func(name string) []byte {
		return []byte(`{"import_supplier":"S","external_account_number":"1","customers":[` +
			strings.TrimSuffix(strings.Repeat(`{"given_name":"`+name+`","family_name":"`+name+`"},`, 100), ",") + `]}`)
	}
	if found, err := AccountDifferences(many("a"), many("b")); err != nil || len(found) != MaxDifferences {
		t.Errorf("%d differences, %v", len(found), err)
	}
	if _, err := AccountDifferences([]byte(`{}`), []byte(`[]`)); err == nil {
		t.Error("a list is not an account")
	}
}

// A changed attr of any documented field is found and named, and nothing else
// is.
func TestEveryChangedAttrIsNamed(t *testing.T) {
	changes := 10_000
	if testing.Short() {
		changes = 1000
	}
	random := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for done := 0; done < changes; {
		account := randomObject(random, accountTable)
		earlier := encode(t, account)
		for range 20 {
			changed := decode(t, earlier)
			attr := changeOne(random, accountTable, changed)
			found, err := AccountDifferences(earlier, encode(t, changed))
			if err != nil || !slices.Equal(found, []string{attr}) {
				t.Fatalf("changed %s, found %v, %v\nbefore %s\nafter %s", attr, found, err, earlier, encode(t, changed))
			}
			seen[landfall.AttrPattern(attr)]++
			done++
		}
	}
	if !testing.Short() {
		for _, attr := range documentedAttrs("", accountTable) {
			if seen[attr] == 0 {
				t.Errorf("%s was never changed", attr)
			}
		}
	}
}

// documentedAttrs returns the pattern of every field without parts.
func documentedAttrs(prefix string, table *rules.Table) (all []string) {
	for i := range table.Fields {
		path, typ := prefix+table.Fields[i].Name, &table.Fields[i].Type
		if typ.Shape == rules.ShapeList {
			path, typ = path+".*", typ.Item
		}
		if typ.Shape == rules.ShapeObject {
			all = append(all, documentedAttrs(path+".", typ.Table)...)
			continue
		}
		all = append(all, path)
	}
	return all
}

// changeOne changes one value at any depth and returns its attr.
func changeOne(random *rand.Rand, table *rules.Table, object map[string]any) string {
	field := pickField(random, table)
	before, given := object[field.Name]
	if !given {
		object[field.Name] = randomValue(random, &field.Type)
		return field.Name
	}
	if !field.Required && random.IntN(20) == 0 {
		delete(object, field.Name)
		return field.Name
	}
	switch field.Type.Shape {
	case rules.ShapeObject:
		if inner := before.(map[string]any); len(field.Type.Table.Fields) > 0 {
			return field.Name + "." + changeOne(random, field.Type.Table, inner)
		}
	case rules.ShapeList:
		list := before.([]any)
		at := random.IntN(len(list))
		if random.IntN(20) == 0 { // one more
			at = len(list)
			object[field.Name] = append(list, randomValue(random, field.Type.Item))
			return field.Name + "." + strconv.Itoa(at)
		}
		attr := field.Name + "." + strconv.Itoa(at)
		if field.Type.Item.Shape == rules.ShapeObject {
			return attr + "." + changeOne(random, field.Type.Item.Table, list[at].(map[string]any))
		}
		list[at] = otherValue(random, field.Type.Item, list[at])
		return attr
	}
	object[field.Name] = otherValue(random, &field.Type, before)
	return field.Name
}

// pickField prefers fields with many parts, so that deep ones are not forgotten.
func pickField(random *rand.Rand, table *rules.Table) *rules.Field {
	parts := func(field *rules.Field) int {
		typ := &field.Type
		if typ.Shape == rules.ShapeList {
			typ = typ.Item
		}
		if typ.Shape == rules.ShapeObject {
			return len(documentedAttrs("", typ.Table))
		}
		return 1
	}
	total := 0
	for i := range table.Fields {
		total += parts(&table.Fields[i])
	}
	at := random.IntN(total)
	for i := range table.Fields {
		if at -= parts(&table.Fields[i]); at < 0 {
			return &table.Fields[i]
		}
	}
	panic("unreachable")
}

// otherValue returns a value that means something else.
func otherValue(random *rand.Rand, typ *rules.Type, before any) any {
	for {
		if after := randomValue(random, typ); fmt.Sprint(after) != fmt.Sprint(before) {
			return after
		}
	}
}

// randomObject fills most fields of a table.
func randomObject(random *rand.Rand, table *rules.Table) map[string]any {
	object := map[string]any{}
	for i := range table.Fields {
		if field := &table.Fields[i]; field.Required || random.IntN(5) > 0 {
			object[field.Name] = randomValue(random, &field.Type)
		}
	}
	return object
}

// Values of some formats. Others get letters, and then the JSON is compared.
var formatted = map[string][]string{
	"email": {"a@b.org", "c@d.org", "e@f.org"}, "phone": {"+442071838750", "+442071838751", "+442071838752"},
	"currency": {"GBP", "EUR", "AUD"}, "country": {"GB", "DE", "AU"}, "language": {"en", "de", "cy"},
}

// randomValue returns a value of a type; a spelling stands for one meaning only.
func randomValue(random *rand.Rand, typ *rules.Type) any {
	switch typ.Shape {
	case rules.ShapeBoolean:
		return random.IntN(2) == 0
	case rules.ShapeInteger:
		return json.Number(strconv.FormatInt(typ.Low+random.Int64N(typ.High-typ.Low+1), 10))
	case rules.ShapeAmount:
		return fmt.Sprintf("%d.%02d", 1+random.IntN(1e9), random.IntN(100))
	case rules.ShapeDecimal:
		return json.Number(fmt.Sprintf("%d.%010d", 1+random.IntN(1e9), random.IntN(1e10)))
	case rules.ShapeDate:
		return fmt.Sprintf("20%02d-%02d-%02d", random.IntN(24), 1+random.IntN(12), 1+random.IntN(28))
	case rules.ShapeDatetime:
		return fmt.Sprintf("20%02d-01-02T%02d:04:%02d.%dZ", random.IntN(24), random.IntN(24), random.IntN(60), 1+random.IntN(9))
	case rules.ShapeObject:
		return randomObject(random, typ.Table)
	case rules.ShapeList:
		list := []any{}
		for range max(typ.Min, 1+random.IntN(2)) {
			list = append(list, randomValue(random, typ.Item))
		}
		return list
	case rules.ShapeAny:
		return map[string]any{"a": json.Number(strconv.FormatUint(random.Uint64(), 10)), "b": []any{letters(random), nil}}
	}
	if typ.Choices != nil {
		return typ.Choices[random.IntN(len(typ.Choices))]
	}
	if typ.Format != nil {
		if known := formatted[typ.Format.Name]; known != nil {
			return known[random.IntN(len(known))]
		}
	}
	return letters(random)
}

func letters(random *rand.Rand) string {
	text := make([]byte, 8)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	return string(text)
}

func encode(t *testing.T, value map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(value)
}

func TestFingerprintIgnoresSpelling(t *testing.T) {
	a, err := Fingerprint([]byte(smallest))
	b, alsoErr := Fingerprint([]byte(`{ "customers" : [ { } ], "external_account_number":"\u0031","import_supplier":"S"}` + "\n"))
	if err != nil || alsoErr != nil || a != b || len(a) != 64 {
		t.Errorf("%s, %v and %s, %v", a, err, b, alsoErr)
	}
	if other, _ := Fingerprint([]byte(strings.Replace(smallest, `"1"`, `"2"`, 1))); other == a {
		t.Error("another account has the same fingerprint")
	}
}
