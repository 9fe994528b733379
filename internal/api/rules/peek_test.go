package rules

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPeek(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"1","b":"2"}`: "1|2",
		` { "b" : "2" , "x" : [ {"a":"9"} , 5 ] , "a":"1"}`: "1|2",
		`{"x":{"a":"9","y":"}"},"a":"1","b":"2"}`:           "1|2",
		`{"x":"\"a\":\\","a":"1","b":"2"}`:                  "1|2",
		`{"\u0061":"\u0031","b":"é\n"}`:                     "1|é\n",
		`{"a":"1","b":"2", broken`:                          "1|2", // refused when it is read
		`{"a":"1"}`:                                         "",
		`{"a":1,"b":"2"}`:                                   "1|2",
		`{"a":1.5,"b":"2"}`:                                 "",
		`{"a":null,"b":"2","c":true}`:                       "",
		`["a","1"]`:                                         "",
		`{"a":"1","b":"2`:                                   "",
		`{"a":"1","b"`:                                      "",
		`{"a":"1","b":`:                                     "",
		`{`:                                                 "",
		``:                                                  "",
		`{"x":]]]],"a":"1","b":"2"}`:                        "",
	} {
		one, two, found := Peek([]byte(body), "a", "b")
		got := ""
		if found {
			got = one + "|" + two
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

// Whatever else a body contains, Peek finds both members with their values.
func TestPeekMatchesRead(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		return rapid.SampledFrom([]any{nil, true, 1.5, "a", `"b":"x"`, "\\", []any{"a", map[string]any{"b": "}"}}, map[string]any{"a": "inner"}}).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		one, two := rapid.String().Draw(t, "one"), rapid.String().Draw(t, "two")
		members := map[string]any{"a": one, "b": two}
		maps.Copy(members, rapid.MapOf(rapid.StringMatching(`[c-z"\\]{1,3}`), value).Draw(t, "others"))
		body, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		gotOne, gotTwo, found := Peek(body, "a", "b")
		if !found || gotOne != strings.ToValidUTF8(one, "\ufffd") || gotTwo != strings.ToValidUTF8(two, "\ufffd") {
			t.Fatalf("%s: %q, %q, %v", body, gotOne, gotTwo, found)
		}
	})
}

func FuzzPeek(f *testing.F) {
	f.Add([]byte(`{"a":"1","x":[{"\\":"\""}],"b":"2"}`))
	f.Fuzz(func(_ *testing.T, body []byte) { Peek(body, "a", "b") })
}

// One member is replaced, those that are null are left out, and the rest stays as it is.
func TestAppendReplaced(t *testing.T) {
	for object, want := range map[string]string{
		`{}`:                               `{}`,
		` { "a" : 1 } `:                    `{"a":X}`,
		`{"b":[1, {"a":2}],"a":"x","c":0}`: `{"b":[1, {"a":2}],"a":X,"c":0}`,
		`{"b":null,"a":1,"c": null }`:      `{"a":X}`,
		`{"\u0061":1,"b":"}{,\"a\":"}`:     `{"\u0061":X,"b":"}{,\"a\":"}`,
		"{\"b\":true\n,\t\"c\":-1.5e3\r}":  `{"b":true,"c":-1.5e3}`,
		`{"b":"1", "a":X,"c":{"a":2}}`:     `{"b":"1", "a":X,"c":{"a":2}}`,
		`{"a":X,"b":null}`:                 `{"a":X}`,
		`{"b":{"a":X},"a":"Y"}`:            `{"b":{"a":X},"a":X}`,
	} {
		if got := string(AppendReplaced([]byte("["), []byte(object), "a", "X")); got != "["+want {
			t.Errorf("%s became %s, want %s", object, got, want)
		}
	}
}

// Members and Items yield what the standard library reads, byte for byte.
func TestMembersAndItemsMatchRead(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		return rapid.SampledFrom([]any{nil, true, -1.5e3, 7, "", "a", `"b":"x"`, "\\", "}],", []any{}, []any{"a", nil, map[string]any{"b": "}"}}, map[string]any{"é\n": []any{1, 2}}}).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		body := marshal(t, rapid.MapOf(rapid.String(), value).Draw(t, "object"))
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		for name, value := range Members(body) {
			got[name] = value
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %s, want %s", body, got, want)
		}
		body = marshal(t, rapid.SliceOf(value).Draw(t, "list"))
		var items, found []json.RawMessage
		if err := json.Unmarshal(body, &items); err != nil {
			t.Fatal(err)
		}
		for item := range Items(body) {
			found = append(found, item)
		}
		if len(found)+len(items) > 0 && !reflect.DeepEqual(found, items) {
			t.Fatalf("%s: %s, want %s", body, found, items)
		}
	})
}

// marshal returns JSON with white space wherever it may be.
func marshal(t *rapid.T, value any) []byte {
	t.Helper()
	body, err := json.MarshalIndent(value, " ", rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func FuzzMembersAndItems(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"}"}],"c" : null }`))
	f.Add([]byte(`[}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		for range Members(body) {
		}
		for range Items(body) {
		}
	})
}
