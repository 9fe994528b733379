package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"landfall/internal/api/contract"
	"landfall/internal/api/httpapi"
)

// untold lists the codes that no story can cause: internal and database faults,
// the limit on guessing keys, operator mistakes, and what the importing client
// makes of an answer. They have tests of their own.
var untold = strings.Fields(`internal_error service_unavailable too_many_requests invalid_setting
	window_over delivered has_postings customers_were_told account_erased account_record_damaged
	note_already_exists transaction_already_exists`)

func allStories(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestEveryCodeHasAStory(t *testing.T) {
	received := map[string]bool{}
	for _, found := range regexp.MustCompile(`"code": ?"(\w+)"`).FindAllStringSubmatch(allStories(t), -1) {
		received[found[1]] = true
	}
	excused := map[string]bool{}
	for _, code := range untold {
		excused[code] = true
		if received[code] {
			t.Errorf("%s has a story: it needs no excuse", code)
		}
	}
	for _, entry := range contract.Codes() {
		if !received[entry.Code] && !excused[entry.Code] {
			t.Errorf("no story tells of %s", entry.Code)
		}
		delete(excused, entry.Code)
	}
	for code := range excused {
		t.Errorf("%s is excused but not in the catalogue", code)
	}
}

func TestEveryRouteHasAStory(t *testing.T) {
	var description struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(httpapi.OpenAPI(), &description); err != nil {
		t.Fatal(err)
	}
	if len(description.Paths) < 8 {
		t.Fatalf("the description has %d paths", len(description.Paths))
	}
	stories := allStories(t)
	for path, methods := range description.Paths {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/\n?]+`)
		for method := range methods {
			if method == "parameters" {
				continue
			}
			line := regexp.MustCompile(`(?m)^` + strings.ToUpper(method) + ` ` + pattern + `(\?.*)?$`)
			if !line.MatchString(stories) {
				t.Errorf("no story asks %s %s", strings.ToUpper(method), path)
			}
		}
	}
}
