package rules

import (
	"strings"
	"testing"
)

// Reading used to go on for seconds after the client had disconnected.
func TestReadingStopsWhenCancelled(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	part := `{"id":"1","any":[1,{"a":2}]}`
	for what, body := range map[string]string{
		"values too many for their list": `{"name":"a","parts":[` + strings.Repeat(part+",", 10_000) + part + `]`,
		"values that are kept as sent":   `{"name":"a","part":{"id":"1","any":[` + strings.Repeat("1,", 10_000) + `1]}`,
		"fields that nobody knows":       `{"name":"a","part":{"id":"1","any":{` + names10000() + `}}`,
	} {
		// The end of each body is missing, so only a reader that gets there reports
		// it.
		document, fault := thing.Read([]byte(body), Limits{Done: gone})
		if document != nil || fault == nil || fault.Detail != detailCancelled {
			t.Errorf("%s: %+v", what, fault)
		}
		if _, fault := thing.Read([]byte(body), Limits{}); fault == nil || fault.Detail == detailCancelled {
			t.Errorf("%s, while a caller waits: %+v", what, fault)
		}
	}
	if document, fault := thing.Read([]byte(`{"name":"a"}`), Limits{Done: gone}); document == nil {
		t.Errorf("a short body: %+v", fault)
	}
}

func names10000() string {
	var text strings.Builder
	for i := range 10_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(`"` + strings.Repeat("x", i%20+1) + string(rune('a'+i%26)) + plural(i, "y") + `":0`)
	}
	return text.String()
}
