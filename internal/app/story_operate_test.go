package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/guard"
	"landfall/internal/outbound/target"
	"landfall/internal/service/operate"
	"landfall/internal/store/seal"
)

// operate executes one line of an operator part.
func (w *world) operate(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	ctx := t.Context()
	var err error
	switch words[0] {
	case "status": // status SUPPLIER STATUS
		status := landfall.SupplierStatus(words[2])
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{Status: &status})
	case "rule": // rule SUPPLIER RULE SEVERITY
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{
			Severities: map[string]landfall.Severity{words[2]: landfall.Severity(words[3])}})
	case "currency": // currency SUPPLIER CODE UNIT-OF-STATEMENTS
		unit := landfall.AmountUnit(words[3])
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{Currency: &words[2], StatementAmounts: &unit})
	case "pack": // pack TEXT: adds a pack
		_, err = w.operator.AddPack(ctx, []byte(strings.TrimPrefix(line, "pack ")))
	case "packs": // packs SUPPLIER NAME...
		packs := words[2:]
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{Packs: &packs})
	case "skip", "unskip": // skip SUPPLIER EXTERNAL
		verb := w.operator.Skip
		if words[0] == "unskip" {
			verb = w.operator.Unskip
		}
		err = verb(ctx, landfall.Key{Supplier: words[1], External: words[2]}, "duplicate in the old system")
	case "undo": // undo SUPPLIER EXTERNAL
		_, err = w.operator.Undo(ctx, landfall.Key{Supplier: words[1], External: words[2]}, "for the story")
	case "keep": // keep SUPPLIER EXTERNAL CODE: an undo is refused
		_, err = w.operator.Undo(ctx, landfall.Key{Supplier: words[1], External: words[2]}, "for the story")
		if refused, ok := errors.AsType[*landfall.Error](err); ok && refused.Code == words[3] {
			err = nil
		} else if err == nil {
			err = errors.New("the account was undone")
		}
	case "undo-window": // undo-window SUPPLIER HOURS
		var hours int
		hours, err = strconv.Atoi(words[2])
		window := time.Duration(hours) * time.Hour
		if err == nil {
			_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{UndoWindow: &window})
		}
	case "revoke-key":
		err = w.operator.RevokeKey(ctx, w.words["key id"])
	case "disable":
		err = w.operator.DisableOrganisation(ctx, words[1])
	case "ungrant": // ungrant SUPPLIER ORGANISATION
		err = w.operator.Revoke(ctx, words[1], words[2])
	case "imported": // imported SUPPLIER EXTERNAL NUMBER
		w.setProcess(t, landfall.Key{Supplier: words[1], External: words[2]},
			"state = 'imported', claim_token = NULL, claim_until = NULL, account_created_at = first_staged_at, number = '"+words[3]+"', account_number = '"+words[3]+"'")
	case "open-beyond-the-calendar": // open-beyond-the-calendar SUPPLIER EXTERNAL: as accounts used to be stored
		w.execute(t, `UPDATE account SET open_from_on = '10000-01-01', last_billed_to_on = '9999-12-31' WHERE id = `+
			`(SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2)`, words[1], words[2])
		w.execute(t, `UPDATE statement_period SET from_on = '10000-01-01' WHERE to_on IS NULL`)
		err = w.application.Store().View(ctx, func(view landfall.View) error {
			_, err := view.Account(ctx, landfall.Key{Supplier: words[1], External: words[2]})
			return err
		})
	case "claimed": // claimed SUPPLIER EXTERNAL
		w.setProcess(t, landfall.Key{Supplier: words[1], External: words[2]},
			"state = 'claimed', claim_token = 'x', claim_until = 32503680000000000")
	case "limit": // limit SUPPLIER NUMBER
		limit, failed := strconv.Atoi(words[2])
		if failed != nil {
			t.Fatal(failed)
		}
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{ConcurrencyLimit: &limit})
	case "verify": // verify SUPPLIER: its documents must exist from now on
		yes := true
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{VerifyDocuments: &yes})
	case "root": // root SUPPLIER FOLDER
		_, err = w.operator.SetSupplier(ctx, words[1], operate.SupplierChange{DocumentRoot: &words[2]})
	case "document": // document PATH: from the bucket, so with the supplier's root
		err = w.putDocument(words[1])
	case "lose-documents": // the document store is unavailable
		err = os.RemoveAll(w.documents)
	case "vendor": // vendor CODE ADAPTER [BASE-URL [SECRET-VARIABLE]]
		vendor := landfall.Vendor{Code: words[1], Adapter: words[2]}
		if len(words) > 3 {
			vendor.BaseURL = words[3]
		}
		if len(words) > 4 {
			vendor.SecretEnv = words[4]
		}
		err = w.operator.SetVendor(ctx, vendor)
	case "quota": // quota ORGANISATION NAME NUMBER
		number, failed := strconv.ParseInt(words[3], 10, 64)
		if failed != nil {
			t.Fatal(failed)
		}
		var change operate.QuotaChange
		*map[string]**int64{
			landfall.QuotaRequests: &change.RequestsPerSecond, landfall.QuotaBytes: &change.BytesPerDay,
			landfall.QuotaRevisions: &change.RevisionsPerAccount, landfall.QuotaTokens: &change.TokensPerMinute,
		}[words[2]] = &number
		_, err = w.operator.SetQuotas(ctx, words[1], change)
	case "grant-vendor": // grant-vendor CODE SUPPLIER
		err = w.operator.GrantVendor(ctx, words[1], words[2])
	case "revoke-vendor": // revoke-vendor CODE SUPPLIER
		err = w.operator.RevokeVendor(ctx, words[1], words[2])
	case "remove-vendor": // remove-vendor CODE
		err = w.operator.RemoveVendor(ctx, words[1])
	case "put-back-to-an-earlier-state": // like a restored backup: the last event is gone
		w.execute(t, `DELETE FROM event WHERE id = (SELECT max(id) FROM event)`)
	case "purge-events": // purge-events SUPPLIER: all of them but the newest
		w.execute(t, `UPDATE supplier SET keep_events = 1`)
		if _, err = w.application.Store().IndexTerms(ctx); err == nil {
			_, err = w.operator.Purge(ctx, words[1], false)
		}
	case "purge-runs": // purge-runs SUPPLIER: the accounts of all ended runs
		w.execute(t, `UPDATE supplier SET keep_runs = 1, undo_window = 0`)
		_, err = w.operator.Purge(ctx, words[1], false)
	case "await": // await RUN STATE [REASON], where an answer named the run
		err = w.await(ctx, w.words[words[1]], words[2:]...)
	case "restart": // restart KEY… : with those encryption keys; the first one encrypts
		w.shut()
		w.settings.EncryptionKey = w.encryptionKeys(words[1:])
		err = w.open(t)
	case "no-start": // no-start KEY… : SENTENCE: the service refuses to start with those and reports SENTENCE
		keys, sentence, _ := strings.Cut(strings.TrimPrefix(line, "no-start"), ":")
		w.shut()
		w.settings.EncryptionKey = w.encryptionKeys(strings.Fields(keys))
		if failed := w.open(t); failed == nil {
			err = errors.New("it started")
		} else if !w.match("…more"+strings.TrimSpace(sentence), failed.Error()) {
			err = fmt.Errorf("it said: %w", failed)
		}
	case "rekey": // rekey: encrypts everything with the first key
		_, err = w.operator.Rekey(ctx, func(landfall.RekeyStep) {})
	case "find": // find NUMBER… : WORDS: the search finds exactly those accounts
		externals, sought, _ := strings.Cut(strings.TrimPrefix(line, "find"), ":")
		err = w.find(ctx, strings.Fields(externals), strings.TrimSpace(sought))
	case "sign-off": // sign-off SUPPLIER MEASURE=REASON
		measure, reason, _ := strings.Cut(words[2], "=")
		_, err = w.operator.SignOff(ctx, words[1], map[string]string{measure: reason}, contract.Custody{})
	case "target": // target CODE SUPPLIER: the supplier delivers to a target that leaves everything pending
		w.startTarget(t, words[1], words[2])
	case "deliveries": // deliveries SUPPLIER EXTERNAL STATE…: waits until its deliveries are in these states
		err = w.awaitDeliveries(ctx, landfall.Key{Supplier: words[1], External: words[2]}, words[3:])
	case "wait": // so that the next staging is later by every clock
	default:
		t.Fatalf("the operator knows no %q", words[0])
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	// Results may be cached for this long.
	time.Sleep(60 * time.Millisecond)
}

// encryptionKeys returns encryption keys by the names that stories use.
func (w *world) encryptionKeys(names []string) string {
	keys := make([]string, len(names))
	for i, name := range names {
		word := "vault key " + name
		if w.words[word] == "" {
			w.words[word] = seal.NewKeyText()
			if read, err := seal.ReadKeys(w.words[word]); err == nil {
				w.words["name of "+name] = read[0].ID()
			}
		}
		keys[i] = w.words[word]
	}
	return strings.Join(keys, ",")
}

// find waits until the search, whose index lags behind writes, finds exactly the
// given accounts.
func (w *world) find(ctx context.Context, externals []string, sought string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := w.application.Store().IndexTerms(ctx); err != nil {
			return err
		}
		found, err := w.operator.Search(ctx, sought)
		if err != nil {
			return err
		}
		var numbers []string
		for _, account := range found.Accounts {
			numbers = append(numbers, account.Key.External)
		}
		if slices.Sort(numbers); slices.Equal(numbers, externals) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("it finds %v", numbers)
		}
	}
}

// await waits until a run is in a state.
func (w *world) await(ctx context.Context, id string, state ...string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var run landfall.Run
		err := w.application.Store().View(ctx, func(view landfall.View) (err error) {
			run, err = view.Run(ctx, id)
			return err
		})
		if err != nil {
			return err
		}
		if string(run.State) == state[0] && (len(state) == 1 || string(run.Reason) == state[1]) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the run stays %s %s: %+v", run.State, run.Reason, run.Tally)
		}
	}
}

// startTarget starts a target that leaves deliveries pending, and delivers to it until
// the test ends.
func (w *world) startTarget(t *testing.T, code, supplier string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(t.TempDir())
	must(err)
	t.Cleanup(func() { _ = root.Close() })
	settings := w.settings
	settings.WebhookKey, settings.WebhookPlainHTTP = strings.Repeat("k", 40), true
	settings.WebhookNetworks, err = guard.Networks([]string{"127.0.0.0/8"})
	must(err)
	signer, err := app.NewSender(settings, "urn:landfall:test", w.application.Store())
	must(err)
	t.Cleanup(signer.Close)
	sender, err := app.NewTargetSender(settings)
	must(err)
	t.Cleanup(sender.Close)
	w.operator = operate.New(w.application.Store(), operate.Options{Actor: "operator:test", Sender: signer, Targets: sender})

	server := httptest.NewUnstartedServer(nil)
	address := "http://" + server.Listener.Addr().String()
	_, text, err := w.operator.SetTarget(t.Context(), code, operate.TargetChange{URL: &address})
	must(err)
	secret, err := delivery.ParseSecret(text)
	must(err)
	server.Config.Handler = target.NewServer(target.ServerOptions{Folder: root, Secret: secret, Pending: true})
	server.Start()
	t.Cleanup(server.Close)
	_, err = w.operator.SetSupplier(t.Context(), supplier, operate.SupplierChange{Target: &code})
	must(err)

	dispatcher := target.NewDispatcher(w.application.Store(), target.DispatcherOptions{
		Sender: sender, Log: slog.New(slog.NewTextHandler(w.log, nil)), PollInterval: 20 * time.Millisecond,
	})
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		dispatcher.Run(running)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// awaitDeliveries waits until the deliveries of an account are in the given states, oldest
// first. Requests refer to them as {delivery EXTERNAL NUMBER}, counted from 1.
func (w *world) awaitDeliveries(ctx context.Context, key landfall.Key, want []string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		found, err := w.operator.Deliveries(ctx, landfall.TargetDeliveryQuery{Key: &key, Limit: 100})
		if err != nil {
			return err
		}
		var states []string
		for i, one := range found {
			states = append(states, string(one.State))
			w.words[fmt.Sprintf("delivery %s %d", key.External, i+1)] = contract.DeliveryID(one.ID, one.At)
		}
		if slices.Equal(states, want) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the deliveries stay %v", states)
		}
	}
}

// putDocument puts an empty file into the story's document store.
func (w *world) putDocument(path string) error {
	file := filepath.Join(w.documents, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o644)
}
