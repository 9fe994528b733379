package rules

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzRead compares the reader with two others. If it accepts a body, the lenient
// one must read it too, and the strict one must not find a fault in it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x"}`, `{"name":"x","name":"y"}`, `{"name":"\ud800"}`, `{"parts":[{"id":"1","any":{"a":[1e9,null]}}]}`,
		`{"name":"a\u0000","foo":{"b":"\u0000"}}`, `{"amount":"1.50","rate":1.10,"count":3,"day":"2024-02-29"}`,
		"{\"name\":\"\xff\"}", `[]`, `{"words":["a","b","c"]}`, `{"at":"2024-02-29T00:00:00Z","flag":true}`, `{"any":{}} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, fault := thing.Read(body, Limits{})
		strict := jsontext.Value(body).IsValid() && jsontext.Value(body).Kind() == '{'
		if fault != nil {
			if strict && fault.Detail != "The JSON is nested too deeply." {
				t.Fatalf("refused sound JSON: %+v", *fault)
			}
			return
		}
		if !strict || !json.Valid(body) {
			t.Fatalf("accepted what others refuse")
		}
		errors := doc.Report().Errors()
		if doc.Report().Failed() != (len(errors) > 0) {
			t.Fatal("the report contradicts itself")
		}
		if !doc.Report().Failed() {
			sameValues(t, body, doc)
		}
	})
}

// sameValues compares the values with those that encoding/json reads.
func sameValues(t *testing.T, body []byte, doc *Document) {
	var plain map[string]any
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatal(err)
	}
	for _, field := range thing.Fields {
		node, want := doc.Root().Field(field.Name), plain[field.Name]
		if node.Present() != (want != nil) && field.Type.Shape != ShapeAny {
			t.Fatalf("%s: present %v, plain %v", field.Name, node.Present(), want)
		}
		if !node.Present() {
			continue
		}
		if text, is := want.(string); is && field.Type.Shape != ShapeAny && node.Text() != text {
			t.Fatalf("%s: %q is not %q", field.Name, node.Text(), text)
		}
		var again any
		if err := json.Unmarshal([]byte(node.Raw()), &again); err != nil || !reflect.DeepEqual(again, want) {
			t.Fatalf("%s: the raw value %q is not the value", field.Name, node.Raw())
		}
	}
}

// FuzzAppendString writes a string and reads it back.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\n\r\t\x00\x1f", "<a href='x'>&", "\u2028\u2029é😀", "\xff\xed\xa0\x80", "\ufffd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := AppendString([]byte("x"), text)
		reference, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var got, want string
		if err := json.Unmarshal(written[1:], &got); err != nil || json.Unmarshal(reference, &want) != nil || got != want {
			t.Fatalf("%q was written %s and reads %q, want %q (%v)", text, written[1:], got, want, err)
		}
	})
}
