package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/outbound/guard"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/operate"
	"landfall/internal/test/mailtest"
)

// canaryWorld is a service in which one word replaces all personal data. It includes the
// servers that the service talks to; some of them echo the word.
type canaryWorld struct {
	*testServer
	word    string
	sender  *webhook.Sender
	events  lockedBuffer // the events that webhooks received
	refused atomic.Int64 // events received; the first one is refused
	bounced atomic.Int64 // mails refused by the mail server
}

// newCanaryWorld starts a service with a word.
func newCanaryWorld(t *testing.T, database, word string, log io.Writer, change func(*app.Settings)) *canaryWorld {
	t.Helper()
	b := &canaryWorld{word: word}
	loopback, err := guard.Networks([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	b.testServer = startLogged(t, database, func(settings *app.Settings) {
		settings.WebhookKey, settings.WebhookNetworks, settings.WebhookPlainHTTP = strings.Repeat("k", 40), loopback, true
		settings.Mail.Server, settings.Mail.TLS, settings.Mail.From = mailtest.Fake(t, b.refuseMails), "none", "us@landfall.example"
		change(settings)
		if b.sender, err = app.NewSender(*settings, "urn:landfall:test", nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.sender.Close)
	}, log)
	b.operator = operate.New(b.application.Store(), operate.Options{Actor: "operator:test", Sender: b.sender, SendsMail: true})
	yes := true
	if _, err := b.operator.SetSupplier(t.Context(), "NORTH", operate.SupplierChange{SendCustomerEmails: &yes}); err != nil {
		t.Fatal(err)
	}
	return b
}

// refuseMails is a mail server that refuses every recipient and echoes the
// address.
func (b *canaryWorld) refuseMails(line net.Conn) {
	fmt.Fprint(line, "220 mail.example\r\n")
	for words := bufio.NewScanner(line); words.Scan(); {
		answer := "250 good"
		if text := words.Text(); strings.HasPrefix(text, "RCPT") {
			answer = "550 5.1.1 nobody here is called " + b.word + ": " + text
			b.bounced.Add(1)
		}
		if _, err := fmt.Fprint(line, answer+"\r\n"); err != nil {
			return
		}
	}
}

// receiver accepts events except the first, which it answers with an error that
// contains the word.
func (b *canaryWorld) receiver(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&b.events, r.Body)
		if b.refused.Add(1) == 1 {
			http.Error(w, b.word, http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// account returns an account with the word in every text that allows it.
func (b *canaryWorld) account(external, more string) string {
	return strings.NewReplacer("WORD", b.word, "\n", "").Replace(`{"import_supplier":"NORTH","external_account_number":"` + external + `","billing_name":"WORD",
"billing_address":{"country":"GB","street_address":"WORD","locality":"WORD","postal_code":"WORD"},
"customers":[{"given_name":"WORD","family_name":"WORD","title":"WORD","email":"WORD@mail.co.uk","mobile":"+447400123456","landline":"020 7946 0018","date_of_birth":"1931-02-27","metadata":[{"key":"k","value":"WORD"}]}],
"supply_addresses":[{"supply_address1":"WORD","supply_points":[{"identifier":"WORD","supply_type":"GAS","supply_start_date":"2019-05-01","meters":[{"serial_number":"WORD","registers":[{"register_id":"WORD"}]}]}]}],
"current_statement_transactions":[{"transaction_id":"T-1","transaction_date":"2020-01-01","amount":1,"type":"PAYMENT","reason":"WORD","note":"WORD"}],
"notes":[{"body":"WORD sings"},{"document_paths":[{"document_path":"WORD.pdf"}]}],
"statements":[{"statement_id":"S-1","bill_period_from_date":"2019-05-01","bill_period_to_date":"2019-05-31","statement_path":"WORD.pdf"}],
"payment_instructions":[{"vendor":"SANDBOX","reference":"WORD","type":"CARD"}]` + more + `}`)
}

// live does everything that can leave the word somewhere: every kind of request
// with its possible outcomes, runs, events, mails, the console.
func (b *canaryWorld) live(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if _, _, err := b.operator.AddWebhook(ctx, operate.WebhookRequest{Name: "hook", Organisation: "Acme", URL: b.receiver(t)}); err != nil {
		t.Fatal(err)
	}
	process := func(external, more string) string {
		return `{"import_supplier_code":"NORTH","external_account_number":"` + external + `","operations_team_name":"Migration Team"` + more + `}`
	}
	post := func(members string) string {
		return `{"import_supplier":"NORTH","external_account_number":"1",` + strings.ReplaceAll(members, "WORD", b.word) + `}`
	}
	unknown := `,"payment_schedules":[]`
	for _, step := range []struct {
		path, body string
		status     int
	}{
		{"validate-account", b.account("1", ""), 200},
		{"validate-account", b.account("1", `,"currency":"WORD"`), 400},
		{"account-import-process/create-or-update", b.account("1", ""), 201},
		{"account-import-process/create-or-update", b.account("1", unknown), 200},
		{"account-import-process/process", process("1", `,"dry_run":true`), 400},
		{"account-import-process/process", process("1", ""), 201},
		{"account-import-process/process", process("1", ""), 400},
		// One account is refused, one fails because of its content.
		{"account-import-process/create-or-update", b.account("4", `,"currency":"WORD","WORD":"WORD"`), 400},
		{"account-import-process/create-or-update", strings.Replace(b.account("2", ""), `"reference":"`, `"reference":"not-found-`, 1), 201},
		{"account-import-process/process", process("2", ""), 400},
		{"account-import-process/create-or-update", strings.Replace(b.account("3", ""), `"reference":"`, `"reference":"not-found-`, 1), 201},
		{"notes/create", post(`"notes":[{"body":"WORD again"}]`), 201},
		{"transactions/create", post(`"transactions":[{"transaction_id":"T-2","transaction_date":"2020-01-02","amount":1,"type":"PAYMENT","reason":"WORD","note":"WORD"}]`), 201},
		{"historical-statements/create", post(`"statements":[{"statement_id":"S-2","bill_period_from_date":"2019-06-01","bill_period_to_date":"2019-06-30","statement_path":"WORD/2.pdf"}]`), 201},
		{"payment-instruction/create", post(`"vendor":"SANDBOX","reference":"WORD2","type":"CARD"`), 201},
		{"payment-instruction/create", post(`"vendor":"SANDBOX","reference":"not-found-WORD","type":"CARD"`), 400},
		{"payment-instruction/create", post(`"vendor":"SANDBOX","reference":"unavailable-WORD","type":"CARD"`), 500},
	} {
		if status, body := b.post(t, step.path+"/", "application/json", strings.NewReader(step.body)); status != step.status {
			t.Fatalf("%s: %d %s, want %d", step.path, status, body, step.status)
		}
	}
	b.sendLines(t, "account-import-process/create-or-update", "", []string{b.account("5", ""), b.account("6", `,"currency":"WORD"`), `{"` + b.word, `"` + b.word + `"`})
	run, err := b.operator.StartRun(ctx, landfall.RunPlan{Supplier: "NORTH", Team: "Migration Team", Select: landfall.SelectPending})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.await(ctx, run.ID, string(landfall.RunFinished)); err != nil {
		t.Fatal(err)
	}
	b.useConsole(t)
	b.settle(t)
}

// useConsole uses the console pages that show personal data or accept text.
func (b *canaryWorld) useConsole(t *testing.T) {
	t.Helper()
	link, err := b.operator.CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	const password = "correct horse battery staple"
	const account = "/console/accounts/NORTH/1/"
	for _, step := range []struct {
		path string
		form url.Values
		says string
	}{
		{"/console/welcome/" + link.Reveal() + "/", url.Values{"password": {password}, "again": {password}}, "ada"},
		{"/console/search/?q=" + b.word, nil, ""},
		{"/console/search/?q=" + b.word + "%40mail.co.uk", nil, ""},
		{account, nil, "Reveal personal data"},
		{account + "reveal/", url.Values{"reason": {"she called"}}, b.word},
		{"/console/suppliers/NORTH/accounts/?state=faulty", nil, ""},
		{"/console/admin/audit/?subject=" + b.word, nil, ""},
		{"/console/admin/webhooks/hook/", nil, ""},
		{"/console/sign-in/", url.Values{"name": {b.word}, "password": {b.word}}, ""},
		{"/console/" + b.word + "/", nil, ""},
	} {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+step.path, nil)
		if step.form != nil {
			request, _ = http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+step.path, strings.NewReader(step.form.Encode()))
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("Origin", b.base)
			request.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		answer, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), step.says) {
			t.Fatalf("%s: %d, %v, and not %q:\n%s", step.path, answer.StatusCode, err, step.says, body)
		}
	}
}

// settle waits until all background work is done.
func (b *canaryWorld) settle(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		found, err := b.operator.Search(t.Context(), strings.ToLower(b.word))
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Accounts) >= 2 && b.bounced.Load() >= 2 && b.refused.Load() > 5 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d accounts found, %d mails refused, %d events received", len(found.Accounts), b.bounced.Load(), b.refused.Load())
		}
	}
}

// spill sends more lines than there is memory for their answers and reads none of
// them, until answers are spooled to disk; leave closes the connection. The
// connection keeps the default buffers: with a tiny full buffer, Linux may drop
// the other side's acknowledgements too, and then neither side makes progress.
func (b *canaryWorld) spill(t *testing.T) (leave func()) {
	t.Helper()
	line, err := net.Dial("tcp", strings.TrimPrefix(b.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		// Use a short line with a long answer, so that answers reach the disk soon.
		one := `{"import_supplier":"NORTH","external_account_number":"7","currency":"` + b.word + `","notes":[7` + strings.Repeat(`,7`, 500) + "]}\n"
		fmt.Fprintf(line, "POST /v1/data-import/bulk/validate-account/ HTTP/1.1\r\nHost: api.example\r\nAuthorization: Token %s\r\n"+
			"Content-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n", b.words["token"], 1<<30)
		for {
			if _, err := io.WriteString(line, one); err != nil {
				ended <- err // closed by leave, or by the service
				return
			}
		}
	}()
	for end := time.Now().Add(time.Minute); strings.Contains(b.metrics(), "\nlandfall_bulk_spooled_bytes 0\n"); time.Sleep(20 * time.Millisecond) {
		if len(ended) > 0 || time.Now().After(end) {
			said := make([]byte, 4<<10)
			n, err := line.Read(said)
			t.Fatalf("no answer ever waited on disk; sending ended %d times; the service said %q, %v", len(ended), said[:n], err)
		}
	}
	return func() { line.Close() }
}

// metrics returns what Prometheus would scrape.
func (b *canaryWorld) metrics() string {
	recorder := httptest.NewRecorder()
	b.application.Ops().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return recorder.Body.String()
}
