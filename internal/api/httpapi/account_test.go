package httpapi

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// An account staged with its number in the body can be read with the number in
// the path, whatever characters it contains.
func TestStagedByBodyReadByPath(t *testing.T) {
	h := newTestAPI(t)
	for _, external := range []string{
		"1", "a/b", "a//b", "/", ".", "..", "../..", "a.b", "%", "%2F", "%252F", "100%", "a+b", "a b", "a;b", "a?b", "a#b",
		"a&b=c", "é", "ｆｕｌｌ", "日本", "👩", `"quoted"`, `back\slash`, "<tag>", "a:b@c", "~!$'()*,[]{}|^`",
	} {
		if got := h.call("importer", "POST", stagePath, accountJSON("OURS", external)); got.status != 201 {
			t.Errorf("%q: staging gave %d %s", external, got.status, got.body)
			continue
		}
		segment := strings.ReplaceAll(url.PathEscape(external), ".", "%2E")
		got := h.call("viewer", "GET", importPath+"/account-transfer-status/OURS/"+segment+"/", "")
		if got.status != 200 || got.body != `{"status":"UNKNOWN","platform_account_number":""}` {
			t.Errorf("%q: got %d %s", external, got.status, got.body)
		}
	}
}

func TestStageAnswers(t *testing.T) {
	h := newTestAPI(t)
	const exact = `{"import_supplier":"OURS","external_account_number":"1"}`
	for _, status := range []int{201, 200} {
		got := h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
		if got.status != status || got.body != exact {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
}

func TestWarnings(t *testing.T) {
	h := newTestAPI(t)
	doubtful := `{"import_supplier":"OURS","external_account_number":"1","customers":[{"family_name":"Byron","email":"someone@example.com"}]}` + "\n "
	if got := h.call("importer", "POST", validatePath, doubtful); got.status != 200 || got.body != doubtful {
		t.Errorf("without being asked: %d %s", got.status, got.body)
	}
	for _, path := range []string{validatePath, stagePath} {
		got := h.call("importer", "POST", path+"?include_warnings=true", doubtful)
		var body struct {
			Supplier string `json:"import_supplier"`
			Warnings []struct {
				Code string `json:"code"`
				Attr string `json:"attr"`
			} `json:"warnings"`
		}
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Supplier != "OURS" || len(body.Warnings) != 1 ||
			body.Warnings[0].Code != "possible_test_email_address" || body.Warnings[0].Attr != "customers.0.email" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		for _, query := range []string{"include_warnings=maybe", "include_warnings=", "include_warnings=2", "include_warnings=1&include_warnings=1", "include_warning=1"} {
			if got := h.call("importer", "POST", path+"?"+query, doubtful); got.status != 400 || got.code() != "validation_failed" {
				t.Errorf("%s?%s: %d %s", path, query, got.status, got.body)
			}
		}
	}
	sound := `{"import_supplier":"OURS","external_account_number":"1","customers":[{"family_name":"Byron"}]}`
	if got := h.call("importer", "POST", validatePath+"?include_warnings=1", sound); !strings.HasSuffix(got.body, `,"warnings":[]}`) {
		t.Errorf("nothing to warn of: %s", got.body)
	}
}
