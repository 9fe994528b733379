package rules

import (
	"strings"
	"testing"
)

func TestMalformed(t *testing.T) {
	deep := func(n int) string {
		return `{"name":"x","any":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	cases := []struct{ name, body, attr, detail string }{
		{"nothing", ``, "", "empty"},
		{"white space", " \n", "", "empty"},
		{"null", `null`, "", "one JSON object"},
		{"list", `[]`, "", "one JSON object"},
		{"string", `"x"`, "", "one JSON object"},
		{"number", `1`, "", "one JSON object"},
		{"two objects", `{"name":"x"}{"name":"x"}`, "", "after the JSON"},
		{"object and rubbish", `{"name":"x"} x`, "", "after the JSON"},
		{"object and NUL byte", "{\"name\":\"x\"}\x00", "", "after the JSON"},
		{"cut short", `{"name":"x"`, "", "Unexpected end"},
		{"cut in a string", `{"name":"x`, "name", "Unexpected end"},
		{"trailing comma", `{"name":"x",}`, "", "line 1"},
		{"missing colon", "{\n\"name\" \"x\"}", "name", "line 2"},
		{"name without quotes", `{name:"x"}`, "", "line 1"},
		{"number as a name", `{1:"x"}`, "", "line 1"},
		{"object as a name", `{{}:1}`, "", "line 1"},
		{"wrong bracket", `{"words":["a"}`, "words", "line 1"},
		{"comment", `{"name":"x"/**/}`, "", "line 1"},
		{"line feed in a string", "{\"name\":\"a\nb\"}", "name", "line 1"},
		{"raw NUL in a string", "{\"name\":\"a\x00b\"}", "name", "line 1"},

		{"NaN", `{"amount":NaN}`, "amount", "line 1"},
		{"Infinity", `{"amount":Infinity}`, "amount", "line 1"},
		{"plus sign", `{"amount":+1}`, "amount", "line 1"},
		{"bare point before", `{"amount":.5}`, "amount", "line 1"},
		{"bare point after", `{"amount":5.}`, "amount", "line 1"},
		{"leading zero", `{"amount":01}`, "", "line 1"},
		{"hexadecimal", `{"amount":0x10}`, "", "line 1"},

		{"duplicate", `{"name":"x","name":"x"}`, "name", "Duplicate"},
		{"duplicate after null", `{"text":null,"text":"a"}`, "text", "Duplicate"},
		{"duplicate spelled with an escape", `{"name":"x","n\u0061me":"x"}`, "name", "Duplicate"},
		{"duplicate in an item", `{"parts":[{"id":"1"},{"id":"1","id":"2"}]}`, "parts.1.id", "Duplicate"},
		{"duplicate unknown field", `{"foo":1,"foo":1}`, "foo", "Duplicate"},
		{"duplicate in an unknown field", `{"foo":{"a":[{"b":1,"b":1}]}}`, "foo.a.0.b", "Duplicate"},
		{"duplicate in metadata", `{"any":{"a":1,"a":1}}`, "any.a", "Duplicate"},
		{"duplicate behind the last item allowed", `{"words":["a","b",{"a":1,"a":1}]}`, "words.2.a", "Duplicate"},
		{"duplicate in a value of the wrong type", `{"name":{"a":1,"a":1}}`, "name.a", "Duplicate"},

		{"byte order mark", "\ufeff{\"name\":\"x\"}", "", "byte order mark"},
		{"UTF-16", "{\x00\"\x00n\x00\"\x00", "", "not valid JSON"},
		{"bad UTF-8", "{\"name\":\"a\xff\"}", "name", "UTF-8"},
		{"overlong UTF-8", "{\"name\":\"\xc0\xaf\"}", "name", "UTF-8"},
		{"cut UTF-8", "{\"name\":\"\xe2\x82\"}", "name", "UTF-8"},
		{"surrogate in UTF-8", "{\"name\":\"\xed\xa0\x80\"}", "name", "UTF-8"},
		{"bad UTF-8 in a name", "{\"a\xff\":1}", "", "UTF-8"},
		{"bad UTF-8 in metadata", "{\"any\":[\"\xff\"]}", "any.0", "UTF-8"},
		{"lone surrogate", `{"name":"A\ud800"}`, "name", "line 1"},
		{"surrogates the wrong way round", `{"name":"\ude00\ud83d"}`, "name", "line 1"},
		{"lone surrogate in metadata", `{"any":"\ud800"}`, "any", "line 1"},
		{"lone surrogate in a name", `{"\ud800":1}`, "", "line 1"},
		{"unknown escape", `{"name":"\x"}`, "name", "line 1"},

		{"too deep in metadata", deep(32), "any" + strings.Repeat(".0", 31), "deep"},
		{"far too deep", deep(100_000), "any" + strings.Repeat(".0", 31), "deep"},
		{"too deep in an unknown field", strings.Repeat(`{"a":`, 100_000), strings.TrimSuffix(strings.Repeat("a.", 32), "."), "deep"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, fault := thing.Read([]byte(c.body), Limits{})
			if fault == nil {
				t.Fatalf("accepted: %v", doc.Report().Errors())
			}
			if fault.Code != CodeMalformedJSON || fault.Attr != c.attr || !strings.Contains(fault.Detail, c.detail) {
				t.Errorf("got %+v, want attr %q and a detail about %q", *fault, c.attr, c.detail)
			}
		})
	}
	if got := problems(t, deep(31)); len(got) != 0 {
		t.Errorf("32 levels are refused: %v", got)
	}
	if got := problems(t, `{"name":"x","any":[`+strings.Repeat(`[{}],`, 100)+`0]}`); len(got) != 0 {
		t.Errorf("many side by side are taken for deep: %v", got)
	}
}

// A member name invented by the sender is repeated, but must not break a log, a
// terminal or a page.
func TestHostileNames(t *testing.T) {
	for name, want := range map[string]string{
		`<img src=x>`:                `<img src=x>`,
		`a\nb`:                       `a\u000ab`,
		"a\u202eb":                   `a\u202eb`,
		`a/b~c`:                      `a/b~c`,
		strings.Repeat("x", 1<<20):   strings.Repeat("x", 200),
		strings.Repeat(`\u200b`, 50): strings.Repeat(`\u200b`, 33),
	} {
		doc, fault := thing.Read([]byte(`{"name":"x","`+name+`":1}`), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		if got := doc.Report().Errors()[0].Attr; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// No value that a sender wrote may be returned: it may be personal data.
func TestNoValueIsRepeated(t *testing.T) {
	const secret = "S3CRET"
	for _, field := range []string{"name", "text", "prose", "choice", "code", "flag", "count", "amount", "rate", "day", "at", "part", "parts", "words"} {
		doc, fault := thing.Read([]byte(`{"`+field+`":"`+secret+`\u0000","x":"`+secret+`"}`), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		for _, v := range doc.Report().Errors() {
			if strings.Contains(v.Detail+v.Attr+v.Code, secret) {
				t.Errorf("%s repeats the value: %+v", field, v)
			}
		}
	}
	for _, body := range []string{`{"name":"` + secret, `{"name":` + secret + `}`, `{"name":"` + secret + `\ud800"}`} {
		if _, fault := thing.Read([]byte(body), Limits{}); fault == nil || strings.Contains(fault.Detail+fault.Attr, secret) {
			t.Errorf("%s: %+v", body, fault)
		}
	}
}
