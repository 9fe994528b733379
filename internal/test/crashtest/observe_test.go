package crashtest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
)

// observe reads everything about the keys of a history, through the API of any
// replica and from the database. Lists include only accounts whose number has
// the prefix, so that several histories can share a database.
func (c *caller) observe(prefix string) crashtest.State {
	t := c.t
	t.Helper()
	state := crashtest.State{Found: map[landfall.Key]*crashtest.Found{}}
	find := func(external string) *crashtest.Found {
		key := landfall.Key{Supplier: supplier, External: external}
		if state.Found[key] == nil {
			state.Found[key] = &crashtest.Found{}
		}
		return state.Found[key]
	}
	for _, key := range c.history.Keys() {
		find(key.External)
	}
	for list, add := range map[string]func(*crashtest.Found, string){
		"all":      func(found *crashtest.Found, number string) { found.All = append(found.All, number) },
		"pending":  func(found *crashtest.Found, number string) { found.Pending = append(found.Pending, number) },
		"imported": func(found *crashtest.Found, number string) { found.Imported = append(found.Imported, number) },
	} {
		var entries []struct {
			External string `json:"external_account_number"`
			Number   string `json:"platform_account_number"`
		}
		c.get(imports+"/"+list+"-account-import-processes/"+supplier+"/", &entries)
		for _, entry := range entries {
			if strings.HasPrefix(entry.External, prefix) {
				add(find(entry.External), entry.Number)
			}
		}
	}
	store := c.open()
	defer store.Close()
	mails, refusals, strays := c.rows()
	state.Strays = slices.Concat(strays, inspected(t.Context(), store))
	for external := range refusals {
		if strings.HasPrefix(external, prefix) {
			find(external)
		}
	}
	for key, found := range state.Found {
		found.Status, found.StatusNumber = c.status(key)
		found.Mails, found.Refusal = mails[key.External], refusals[key.External]
		if err := store.View(t.Context(), func(view landfall.View) error { return look(t.Context(), view, key, found) }); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// get reads a response of the API from some replica.
func (f *fleet) get(path string, into any) (status int) {
	f.t.Helper()
	status, body, err := f.request(http.MethodGet, f.pick(rand.New(rand.NewPCG(rand.Uint64(), 0))), path, nil)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		f.t.Fatalf("%s: %v", path, err)
	}
	return status
}

// status returns the status of an account and waits while it is in progress: a
// claim whose holder died must expire.
func (f *fleet) status(key landfall.Key) (status, number string) {
	f.t.Helper()
	var answer struct {
		Status string
		Number string `json:"platform_account_number"`
	}
	for deadline := time.Now().Add(lease + soon); ; time.Sleep(20 * time.Millisecond) {
		code := f.get(imports+"/account-transfer-status/"+key.Supplier+"/"+key.External+"/", &answer)
		if code == http.StatusNotFound {
			return "", ""
		}
		if answer.Status != "IN_PROGRESS" || time.Now().After(deadline) {
			return answer.Status, answer.Number
		}
	}
}

// orphans lists the tables whose rows belong to an account.
var orphans = []string{
	"customer", "address", "supply_point", "agreement", "meter", "statement_period", "ledger_entry", "note",
	"historical_statement", "instruction", "payment_schedule", "mail",
}

// rows reads what the store has no method for.
func (f *fleet) rows() (mails map[string]int, refusals map[string]string, strays []string) {
	f.t.Helper()
	database := f.raw()
	defer database.Close()
	stray := func(what, query string) {
		var n int
		if err := database.QueryRowContext(f.t.Context(), query).Scan(&n); err != nil {
			f.t.Fatal(err)
		}
		if n > 0 {
			strays = append(strays, fmt.Sprintf("%d %s", n, what))
		}
	}
	for _, table := range orphans {
		stray("rows of "+table+" belong to no account",
			"SELECT count(*) FROM "+table+" WHERE account_id NOT IN (SELECT id FROM account)")
	}
	stray("processes are imported without an account",
		"SELECT count(*) FROM process WHERE state = 'imported' AND id NOT IN (SELECT id FROM account)")
	stray("accounts have a process that is not imported",
		"SELECT count(*) FROM account a JOIN process p ON p.id = a.id WHERE p.state <> 'imported'")
	mails, refusals = map[string]int{}, map[string]string{}
	read := func(query string, take func(*sql.Rows) error) {
		rows, err := database.QueryContext(f.t.Context(), query)
		if err != nil {
			f.t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			if err := take(rows); err != nil {
				f.t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			f.t.Fatal(err)
		}
	}
	read("SELECT p.external, count(*) FROM mail m JOIN process p ON p.id = m.account_id GROUP BY p.external", func(rows *sql.Rows) error {
		var external string
		var n int
		err := rows.Scan(&external, &n)
		mails[external] = n
		return err
	})
	read("SELECT external, failure FROM refusal", func(rows *sql.Rows) error {
		var external string
		var failure []byte
		var kept struct{ Code string }
		err := rows.Scan(&external, &failure)
		if err == nil {
			err = json.Unmarshal(failure, &kept)
		}
		refusals[external] = kept.Code
		return err
	})
	return mails, refusals, strays
}

// inspected returns what the program's own inspection reports.
func inspected(ctx context.Context, store landfall.Store) (strays []string) {
	for seen, err := range store.Inspect(ctx) {
		if err != nil {
			return append(strays, err.Error())
		}
		if seen.Finding != nil {
			strays = append(strays, "verify: "+seen.Finding.Key.External+": "+seen.Finding.What)
		}
	}
	return strays
}

// raw opens the database itself. The store has registered both drivers.
func (f *fleet) raw() *sql.DB {
	f.t.Helper()
	driver, source := "pgx", f.database
	if file, ok := strings.CutPrefix(f.database, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(5000)"
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		f.t.Fatal(err)
	}
	return database
}

// absent treats a missing row as nothing found.
func absent[T any](value T, err error) (*T, error) {
	if errors.Is(err, landfall.ErrNotFound) {
		return nil, nil
	}
	return &value, err
}

// look reads what the store contains about one key.
func look(ctx context.Context, view landfall.View, key landfall.Key, into *crashtest.Found) error {
	var errs [5]error
	into.Process, errs[0] = absent(view.Process(ctx, key))
	into.Account, errs[1] = absent(view.Account(ctx, key))
	into.Events, errs[2] = view.Events(ctx, key)
	if into.Process != nil {
		into.Revisions, errs[3] = view.Revisions(ctx, key)
		into.Undone, errs[4] = view.UndoneAccounts(ctx, key)
	}
	return errors.Join(errs[:]...)
}
