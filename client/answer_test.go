package client

import (
	"encoding/json"
	"testing"
)

// TestFastAnswerParserMatchesEncodingJSON compares both parsers of an answer. Anything unusual must be left to
// encoding/json.
func TestFastAnswerParserMatchesEncodingJSON(t *testing.T) {
	for text, plain := range map[string]bool{
		`{"line":1,"status":201,"body":{"a":"}\"]{","b":[1,{"c":null}]}}`: true,
		`{"line":1234567890,"status":400,"body":[]}`:                      true,
		`{"line":2,"status":201,"body":[{"x":"\\\\"}]}`:                   true,
		`{"line":2,"status":201,"body":{"x":1},"more":{"y":2}}`:           false,
		`{"line":2,"more":1,"status":201,"body":{}}`:                      false,
		`{"status":201,"line":2,"body":{}}`:                               false,
		`{"line": 2,"status":201,"body":{}}`:                              false,
		`{"line":2,"status":204,"body":null}`:                             false,
		`{"line":2,"status":201,"body":{"x":"}`:                           false,
		`{"line":12345678901234567890,"status":201,"body":{}}`:            false,
		`{"summary":{"complete":true}}`:                                   false,
		``:                                                                false,
	} {
		got, is := parseAnswer([]byte(text + "\n"))
		if is != plain {
			t.Errorf("%s: taken for plain: %v", text, is)
		}
		var want Answer
		if err := json.Unmarshal([]byte(text), &want); is && (err != nil ||
			got.Line != want.Line || got.Status != want.Status || string(got.Body) != string(want.Body)) {
			t.Errorf("%s: read as %+v, want %+v: %v", text, got, want, err)
		}
	}
}

// FuzzPlainAnswer checks that both parsers return the same.
func FuzzPlainAnswer(f *testing.F) {
	f.Add([]byte(`{"line":1,"status":201,"body":{"a":["b\\",{}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, is := parseAnswer(append(text, '\n'))
		var want Answer
		if err := json.Unmarshal(text, &want); is && err == nil &&
			(got.Line != want.Line || got.Status != want.Status || string(got.Body) != string(want.Body)) {
			t.Errorf("read as %+v, want %+v", got, want)
		}
	})
}
