package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/outbound/guard"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/mailtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// A run once stood still for as long as the database's clock was set back, a
// claim stayed for a day, and nobody was told.
func TestTheDatabasesClockIsSetBackAndAhead(t *testing.T) {
	tooltest.SkipIfShort(t)
	cluster, set := pgtest.StartWithClock(t)
	url, err := cluster.Database("clock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlstore.SchemaApply(t.Context(), url, sqlstore.Options{}); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { delivered.Add(1) }))
	defer receiver.Close()
	mails := mailtest.Start(t, "plain")
	loopback, err := guard.Networks([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	var sender *webhook.Sender
	r := startLogged(t, url, func(settings *app.Settings) {
		settings.ClaimLease = 2 * time.Second
		settings.WebhookKey, settings.WebhookNetworks, settings.WebhookPlainHTTP = strings.Repeat("k", 40), loopback, true
		settings.Mail.Server, settings.Mail.TLS, settings.Mail.From, settings.Mail.Delay = mails.Address, "none", "us@landfall.example", time.Second
		if sender, err = app.NewSender(*settings, "urn:landfall:test", nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sender.Close)
	}, &log)
	operator := operate.New(r.application.Store(), operate.Options{Actor: "operator:test", Sender: sender, SendsMail: true})
	if _, _, err := operator.AddWebhook(t.Context(), operate.WebhookRequest{Name: "hook", Organisation: "Acme", URL: receiver.URL}); err != nil {
		t.Fatal(err)
	}
	on := true
	if _, err := operator.SetSupplier(t.Context(), "NORTH", operate.SupplierChange{SendCustomerEmails: &on}); err != nil {
		t.Fatal(err)
	}
	r.stageMany(t, "A", 20)
	// The holder of this claim is dead. The run has to wait for what is left of the
	// lease, which must be well under what the test waits for a run.
	held, err := r.application.Store().Claim(t.Context(), landfall.ClaimRequest{
		Key: landfall.Key{Supplier: "NORTH", External: "A7"}, Team: "Migration Team", Lease: 25 * time.Second,
	})
	if err != nil || held.Verdict != landfall.ClaimGranted {
		t.Fatalf("%v, %v", held.Verdict, err)
	}
	await(t, "the server has looked at the clock", func() bool {
		return r.execute(t, `SELECT 1 FROM database_clock WHERE seen_at > 0`) == 1
	})
	for i, offset := range []time.Duration{-time.Hour, 23 * time.Hour, 0} {
		set(offset)
		await(t, fmt.Sprintf("the jump to %s is reported", offset), func() bool {
			return strings.Count(log.String(), `msg="the database's clock jumped"`) == i+1
		})
		if metrics := r.metrics(t); !strings.Contains(metrics, fmt.Sprintf("landfall_clock_jumps_total %d", i+1)) {
			t.Error("the metrics do not report the jump")
		}
		r.stageMany(t, fmt.Sprintf("J%d-", i), 5)
		status, body := r.post(t, "runs/", "application/json", strings.NewReader(`{"import_supplier_code":"NORTH","operations_team_name":"Migration Team"}`))
		var run struct{ ID string }
		if err := json.Unmarshal([]byte(body), &run); err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
		if err := r.await(t.Context(), run.ID, "FINISHED"); err != nil {
			t.Errorf("after the jump to %s: %v", offset, err)
		}
		if open := r.execute(t, `SELECT 1 FROM process WHERE state <> 'imported'`); open > 0 {
			t.Errorf("after the jump to %s, %d accounts were not created", offset, open)
		}
		await(t, fmt.Sprintf("after the jump to %s every event is delivered", offset), func() bool {
			return delivered.Load() >= r.execute(t, `SELECT 1 FROM event WHERE supplier = 'NORTH'`)
		})
		address := fmt.Sprintf("ada%d@mail.co.uk", i)
		number := fmt.Sprintf("M%d", i)
		for _, call := range [][2]string{
			{"create-or-update", `{"import_supplier":"NORTH","external_account_number":"` + number + `","customers":[{"family_name":"Lovelace","email":"` + address + `"}]}`},
			{"process", `{"import_supplier_code":"NORTH","external_account_number":"` + number + `","operations_team_name":"Migration Team"}`},
		} {
			if status, answer := r.post(t, "account-import-process/"+call[0]+"/", "application/json", strings.NewReader(call[1])); status != http.StatusCreated {
				t.Fatalf("%s: %d %s", call[0], status, answer)
			}
		}
		await(t, fmt.Sprintf("after the jump to %s a mail arrives", offset), func() bool {
			return slices.ContainsFunc(mails.Mails(), func(one mailtest.Received) bool { return slices.Contains(one.EnvelopeTo, address) })
		})
		if late := r.execute(t, `SELECT 1 FROM purge_schedule WHERE due_at > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 7 * 3600000000`); late > 0 {
			t.Errorf("after the jump to %s the purge waits for longer than its interval", offset)
		}
		// The token of before the jump works, and so does a new one.
		answer, err := http.DefaultClient.Do(r.request(http.MethodGet, "/v1/data-import/account-transfer-status/NORTH/"+number+"/", ""))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("after the jump to %s the old token is answered %d", offset, answer.StatusCode)
		}
		if _, err := auth.NewIssuer(r.application.Store(), auth.Options{}).Issue(t.Context(), "here", r.words["key"]); err != nil {
			t.Errorf("after the jump to %s: %v", offset, err)
		}
	}
	jump, err := r.application.Store().LastClockJump(t.Context())
	if err != nil || jump.By > -22*time.Hour {
		t.Errorf("the last jump is recorded as %s, %v", jump.By, err)
	}
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(100 * time.Second); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 100 seconds", what)
		}
	}
}
