package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"landfall"
)

// A vendor problem that only the operator can fix is logged once, however many
// requests meet it, with its name and cause and with no request data.
func TestVendorFailureIsLoggedOnce(t *testing.T) {
	var log lockedBuffer
	w := newLoggedWorld(t, databases["sqlite"](t), nil, &log)
	vendor := landfall.Vendor{Code: "STRIPE", Adapter: "stripe", SecretEnv: "VENDOR_NO_SUCH_VARIABLE"}
	if err := w.operator.SetVendor(t.Context(), vendor); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ path, body, want string }{
		{"account-import-process/create-or-update", stageBody("1"), "201"},
		{"account-import-process/process", `{"import_supplier_code":"NORTH","external_account_number":"1","operations_team_name":"Migration Team"}`, "201"},
		{"payment-instruction/create", `{"import_supplier":"NORTH","external_account_number":"1","vendor":"STRIPE","reference":"pm_canary","type":"CARD"}`, "400"},
		{"payment-instruction/create", `{"import_supplier":"NORTH","external_account_number":"1","vendor":"STRIPE","reference":"pm_canary","type":"CARD"}`, "400"},
	} {
		answer := w.send(t, "POST /v1/data-import/"+step.path+"/\n\n"+step.body)
		if fmt.Sprint(answer.status) != step.want {
			t.Fatalf("%s: %s", step.path, answer)
		}
	}
	received := log.String()
	if strings.Count(received, "payment vendor rejects requests or is failing") != 1 || !strings.Contains(received, "VENDOR_NO_SUCH_VARIABLE") {
		t.Errorf("the log says:\n%s", received)
	}
	if strings.Contains(received, "pm_canary") {
		t.Error("the log repeats the reference")
	}
}

// OPTIONS * must not be answered by net/http, bypassing our handlers.
func TestNothingAnswersBesidesTheRouteTable(t *testing.T) {
	r := startServer(t, databases["sqlite"](t), nil)
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "OPTIONS * HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusNotFound || !strings.Contains(string(body), `"code":"not_found"`) {
		t.Errorf("OPTIONS * answers %d %s %v", answer.StatusCode, body, err)
	}
}
