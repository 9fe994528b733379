package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall/internal/lib/calendar"
)

// thing has one field of every shape.
var thing = func() *Table {
	part := NewTable("Part", "A part.",
		Required("id", NonEmpty(5), "Its id."),
		Optional("any", AnyJSON(), ""))
	return NewTable("Thing", "A thing.",
		Required("name", NonEmpty(5), "What it is called."),
		Optional("text", Text(5), ""),
		Optional("prose", Text(20), ""),
		Optional("choice", Choice("A", "B"), ""),
		Optional("choice_or_empty", OrEmpty(Choice("A", "B")), ""),
		Optional("code", Formatted(10, digitsOnly), ""),
		Optional("flag", Boolean(), ""),
		Optional("count", Integer(1, 12), ""),
		Optional("big", Integer(-9007199254740993, 9007199254740993), ""),
		Optional("amount", Amount(), ""),
		Optional("rate", Decimal(), ""),
		Optional("day", Date(), ""),
		Optional("at", Datetime(), ""),
		Optional("part", Object(part), ""),
		Optional("parts", List(1, 3, Object(part)), ""),
		Optional("words", List(0, 2, Text(5)), ""),
		Optional("any", AnyJSON(), ""))
}()

var digitsOnly = &Format{Name: "digits", Code: "invalid_digits", Detail: "Must be digits.", Pattern: "^[0-9]+$",
	Check: func(text string) bool { return strings.Trim(text, "0123456789") == "" }}

// problems reads a body and returns "code attr" for each violation.
func problems(t *testing.T, body string) []string {
	t.Helper()
	doc, fault := thing.Read([]byte(body), Limits{})
	if fault != nil {
		if doc != nil {
			t.Error("a malformed body gave a document")
		}
		return []string{fault.Code + " " + fault.Attr}
	}
	list := []string{}
	for _, v := range doc.Report().Errors() {
		if v.Detail == "" {
			t.Errorf("%s at %q has no detail", v.Code, v.Attr)
		}
		list = append(list, v.Code+" "+v.Attr)
	}
	return list
}

func TestShape(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"smallest", `{"name":"x"}`, ""},
		{"white space around", " \r\n\t{ \"name\" : \"x\" } \n", ""},
		{"required is missing", `{}`, "required name"},
		{"required is null", `{"name":null}`, "required name"},
		{"optional is null", `{"name":"x","text":null,"part":null,"parts":null,"amount":null,"day":null}`, ""},
		{"required in a nested object", `{"name":"x","part":{}}`, "required part.id"},
		{"required in an item", `{"name":"x","parts":[{"id":"1"},{}]}`, "required parts.1.id"},
		{"item is null", `{"name":"x","words":[null]}`, "required words.0"},
		{"unknown field", `{"name":"x","foo":1}`, "unknown_field foo"},
		{"unknown field below", `{"name":"x","parts":[{"id":"1"},{"id":"2","foo":{"a":[1]}}]}`, "unknown_field parts.1.foo"},
		{"wrong case", `{"Name":"x","name":"x"}`, "unknown_field Name"},
		{"escaped name is the same name", `{"n\u0061me":"x"}`, ""},
		{"empty name", `{"name":"x","":1}`, `unknown_field ""`},

		{"blank", `{"name":""}`, "blank name"},
		{"optional text may be empty", `{"name":"x","text":""}`, ""},
		{"too long", `{"name":"123456"}`, "max_length name"},
		{"length is in characters", `{"name":"ééééé"}`, ""},
		{"four-byte characters", `{"name":"😀😀😀😀😀"}`, ""},
		{"one four-byte character too many", `{"name":"😀😀😀😀😀😀"}`, "max_length name"},
		{"length after escapes", `{"name":"\u00e9\u00e9\u00e9\u00e9\u00e9"}`, ""},
		{"surrogate pair is one character", `{"name":"\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00"}`, ""},
		{"number for text", `{"name":1.5}`, "invalid_type name"},
		{"integer for text", `{"name":1}`, ""},
		{"integer that is too long", `{"name":123456}`, "max_length name"},
		{"object for text", `{"name":{"a":1}}`, "invalid_type name"},
		{"list for text", `{"name":["a"]}`, "invalid_type name"},

		{"NUL", `{"name":"a\u0000"}`, "invalid_characters name"},
		{"NUL in prose", `{"name":"x","prose":"a\u0000"}`, "invalid_characters prose"},
		{"NUL in a date", `{"name":"x","day":"2024-02-29\u0000"}`, "invalid_characters day"},
		{"NUL in an amount", `{"name":"x","amount":"1\u0000"}`, "invalid_characters amount"},
		{"NUL in place of a list", `{"name":"x","words":"\u0000"}`, "invalid_characters words, invalid_type words"},
		{"line feed in a name", `{"name":"a\n"}`, "invalid_characters name"},
		{"lines in prose", `{"name":"x","prose":"a\n\tb\r\n"}`, ""},
		{"bell in prose", `{"name":"x","prose":"\u0007"}`, "invalid_characters prose"},
		{"DEL", "{\"name\":\"a\x7f\"}", "invalid_characters name"},
		{"C1", "{\"name\":\"a\u0085\"}", "invalid_characters name"},
		{"escaped C1", `{"name":"a\u0085"}`, "invalid_characters name"},
		{"pound sign is fine", `{"name":"£5"}`, ""},
		{"NUL in an unknown name", `{"name":"x","a\u0000b":1}`, `invalid_characters a\u0000b`},
		{"NUL in metadata", `{"name":"x","any":{"a":["b\u0000"]}}`, "invalid_characters any.a.0"},
		{"NUL alone in metadata", `{"name":"x","any":"\u0000"}`, "invalid_characters any"},
		{"NUL in a name in metadata", `{"name":"x","any":{"a\u0000":1}}`, `invalid_characters any.a\u0000`},
		{"bell in metadata", `{"name":"x","any":{"a":["b\u0007"]}}`, "invalid_characters any.a.0"},
		{"lines in metadata", `{"name":"x","any":{"a\t":["b\r\n"]}}`, ""},
		{"a backslash before u0000 is no NUL", `{"name":"x","any":"\\u0000"}`, ""},
		{"NUL in the value of an unknown field", `{"name":"x","foo":"\u0000"}`, "unknown_field foo, invalid_characters foo"},

		{"choice", `{"name":"x","choice":"A"}`, ""},
		{"choice in the wrong case", `{"name":"x","choice":"a"}`, "invalid_choice choice"},
		{"an empty choice is none", `{"name":"x","choice":"","code":"","flag":"","count":"","amount":"","rate":"","at":""}`, ""},
		{"empty choice allowed", `{"name":"x","choice_or_empty":""}`, ""},
		{"format", `{"name":"x","code":"12"}`, ""},
		{"format refused", `{"name":"x","code":"1x"}`, "invalid_digits code"},
		{"format on the text without escapes", `{"name":"x","code":"\u0031"}`, ""},

		{"boolean", `{"name":"x","flag":true}`, ""},
		{"boolean as text", `{"name":"x","flag":"true"}`, "invalid_type flag"},
		{"boolean as number", `{"name":"x","flag":1}`, "invalid_type flag"},

		{"date", `{"name":"x","day":"2024-02-29"}`, ""},
		{"no such day", `{"name":"x","day":"2023-02-29"}`, "invalid_date day"},
		{"datetime for a date", `{"name":"x","day":"2024-02-29T00:00:00Z"}`, "invalid_date day"},
		{"an empty date is none", `{"name":"x","day":""}`, ""},
		{"the first day some systems know", `{"name":"x","day":"0001-01-01"}`, "out_of_range day"},
		{"the last day before 1800", `{"name":"x","day":"1799-12-31","at":"1799-12-31T23:59:59Z"}`, "out_of_range day, out_of_range at"},
		{"the first day of 1800", `{"name":"x","day":"1800-01-01","at":"1800-01-01T00:00:00Z"}`, ""},
		{"the last day there is", `{"name":"x","day":"9999-12-31","at":"9999-12-31T23:59:59Z"}`, ""},
		{"the first instant some systems know", `{"name":"x","at":"0001-01-01T00:00:00Z"}`, "out_of_range at"},
		{"a tab in a date", `{"name":"x","day":"2024-02-29\t"}`, "invalid_characters day"},
		{"number for a date", `{"name":"x","day":20240229}`, "invalid_type day"},
		{"datetime", `{"name":"x","at":"2024-02-29T23:59:59+02:00"}`, ""},
		{"datetime without a zone", `{"name":"x","at":"2024-02-29T23:59:59"}`, "invalid_datetime at"},
		{"date for a datetime", `{"name":"x","at":"2024-02-29"}`, "invalid_datetime at"},

		{"object as list", `{"name":"x","parts":{"id":"1"}}`, "invalid_type parts"},
		{"list as object", `{"name":"x","part":[{"id":"1"}]}`, "invalid_type part"},
		{"text as list", `{"name":"x","parts":"1"}`, "invalid_type parts"},
		{"text as object", `{"name":"x","part":"1"}`, "invalid_type part"},
		{"text as item", `{"name":"x","parts":["1"]}`, "invalid_type parts.0"},
		{"too few items", `{"name":"x","parts":[]}`, "blank parts"},
		{"too many items", `{"name":"x","words":["a","b","c","d"]}`, "max_items words"},
		{"items too many are not looked at", `{"name":"x","words":["a","b",1,{}]}`, "max_items words"},
		{"any JSON", `{"name":"x","any":[1e999,"x",null,{"a":{"a":1}}]}`, ""},
		{"null is any JSON too", `{"name":"x","any":null}`, ""},
		{"tab in metadata", `{"name":"x","any":"a\tb"}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(problems(t, c.body), ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	cases := []struct{ field, value, want string }{
		{"amount", `0`, ""}, {"amount", `-0`, ""}, {"amount", `-0.00`, ""}, {"amount", `"12.30"`, ""},
		{"amount", `1.500`, ""}, {"amount", `999999999999.99`, ""}, {"amount", `-999999999999.99`, ""},
		{"amount", `1000000000000`, "out_of_range amount"},
		{"amount", strings.Repeat("9", 100), "out_of_range amount"},
		{"amount", `10.0005`, "max_decimal_places amount"},
		{"amount", `0.1255`, "max_decimal_places amount"},
		{"amount", `1e400`, "out_of_range amount"}, {"amount", `1e-400`, "max_decimal_places amount"},
		{"amount", `1E2`, ""}, {"amount", `1e20000000`, "out_of_range amount"}, {"amount", `5e-2`, ""}, {"amount", `5e-3`, ""}, {"amount", `5e-4`, "max_decimal_places amount"},
		{"amount", `"1e2"`, "invalid_decimal amount"}, {"amount", `""`, ""}, {"amount", `"1\t"`, "invalid_characters amount"},
		{"amount", `" 1"`, "invalid_decimal amount"}, {"amount", `"1,00"`, "invalid_decimal amount"},
		{"amount", `"NaN"`, "invalid_decimal amount"}, {"amount", `"٣"`, "invalid_decimal amount"},
		{"amount", `"+1"`, "invalid_decimal amount"}, {"amount", `"01"`, "invalid_decimal amount"},
		{"amount", `true`, "invalid_type amount"}, {"amount", `[1]`, "invalid_type amount"},
		{"rate", `0.1234567890`, ""}, {"rate", `"0.12345678901"`, "max_decimal_places rate"},
		{"rate", `1e-3`, ""}, {"rate", `1e-05`, ""}, {"rate", `1e-11`, "max_decimal_places rate"}, {"rate", `1000000000000`, "out_of_range rate"},
		{"count", `1`, ""}, {"count", `12`, ""}, {"count", `0`, "out_of_range count"}, {"count", `13`, "out_of_range count"},
		{"count", `-1`, "out_of_range count"}, {"count", `99999999999999999999`, "out_of_range count"},
		{"count", `"1"`, "invalid_type count"}, {"count", `1.0`, "invalid_type count"}, {"count", `1e0`, "invalid_type count"},
		{"big", `9007199254740993`, ""}, {"big", `9007199254740994`, "out_of_range big"},
	}
	for _, c := range cases {
		t.Run(c.field+" "+c.value[:min(20, len(c.value))], func(t *testing.T) {
			got := strings.Join(problems(t, `{"name":"x","`+c.field+`":`+c.value+`}`), ", ")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Only the first problem of a field is reported, but every field is checked, in
// document order. A missing field is reported at the end of its object.
func TestDocumentOrder(t *testing.T) {
	body := `{"parts":[{"any":1},{"id":"1","x":0}],"day":"?","words":["123456","a","b"],"flag":0}`
	want := []string{"required parts.0.id", "unknown_field parts.1.x", "invalid_date day",
		"max_length words.0", "max_items words", "invalid_type flag", "required name"}
	if diff := cmp.Diff(want, problems(t, body)); diff != "" {
		t.Error(diff)
	}
}

func TestValues(t *testing.T) {
	body := []byte(`{"name":"n\u00e4m","flag":true,"count":7,"big":9007199254740993,"amount":"0.29","rate":1.10,` +
		`"day":"2024-02-29","at":"2024-02-29T23:59:59.9+02:00","part":{"id":"1","any":{ "a" : 1e5 }},"words":["a","b"],"text":null,"choice":"?"}`)
	doc, fault := thing.Read(body, Limits{})
	if fault != nil {
		t.Fatal(fault)
	}
	clear(body) // the document must not depend on it after Read
	root := doc.Root()
	got := map[string]any{
		"name": root.Field("name").Text(), "flag": root.Field("flag").Bool(), "count": root.Field("count").Int(),
		"big": root.Field("big").Int(), "amount": root.Field("amount").Amount().String(), "rate": root.Field("rate").Decimal().String(),
		"amount as decimal": root.Field("amount").Decimal().String(),
		"day":               root.Field("day").Day(), "at": root.Field("at").Instant(),
		"raw": root.Field("part").Field("any").Raw(), "part": root.Field("part").Raw(),
		"second": root.Field("words").Items()[1].Text(), "attr": root.Field("words").Items()[1].Attr(), "root": root.Attr(),
	}
	want := map[string]any{
		"name": "näm", "flag": true, "count": int64(7), "big": int64(9007199254740993), "amount": "0.29", "rate": "1.10",
		"amount as decimal": "0.29",
		"day":               calendar.Date(2024, 2, 29), "at": time.Date(2024, 2, 29, 21, 59, 59, 0, time.UTC),
		"raw": `{ "a" : 1e5 }`, "part": `{"id":"1","any":{ "a" : 1e5 }}`,
		"second": "b", "attr": "words.1", "root": "",
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b calendar.Day) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if null := root.Field("text"); null.Present() || null.Valid() || null.Raw() != "" {
		t.Error("null reads as given")
	}
	if bad := root.Field("choice"); !bad.Present() || bad.Valid() || bad.Text() != "" {
		t.Error("a refused value reads as good")
	}
}

// Rules query nodes without checking first, so no method of a node may panic.
func TestAbsentNodes(t *testing.T) {
	doc, _ := thing.Read([]byte(`{"name":"x","flag":true,"part":7,"words":{},"count":"x"}`), Limits{})
	root := doc.Root()
	for _, node := range []*Node{root, root.Field("name"), root.Field("flag"), root.Field("part"), root.Field("words"), root.Field("count"),
		root.Field("day"), root.Field("no such field"), root.Field("part").Field("id").Field("x"), root.Field("name").Field("x")} {
		node.Text()
		node.Raw()
		node.Attr()
		if node.Amount() != 0 || node.Int() != 0 || node.Decimal().String() != "0" || !node.Day().IsZero() || !node.Instant().IsZero() || len(node.Items()) != 0 {
			t.Errorf("%q has a value of another shape", node.Attr())
		}
		if node != root.Field("flag") && node.Bool() {
			t.Errorf("%q is true", node.Attr())
		}
	}
}
