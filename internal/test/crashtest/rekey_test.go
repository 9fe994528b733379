package crashtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/test/tooltest"
)

// lock restarts the replicas with encryption keys. The first key encrypts.
func (f *fleet) lock(keys ...string) {
	for _, r := range f.replicas {
		r.kill()
	}
	// A rekey waits until killed servers are no longer believed to run.
	store := f.open()
	if err := store.Update(f.t.Context(), func(tx landfall.Tx) error {
		known, err := tx.Replicas(f.t.Context(), time.Hour)
		for _, server := range known {
			err = errors.Join(err, tx.RemoveReplica(f.t.Context(), server.ID))
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.keys = strings.Join(keys, ",")
	for _, r := range f.replicas {
		r.start()
	}
}

// must sends a request to some replica, which has to succeed.
func (f *fleet) must(path, body string) {
	f.t.Helper()
	status, answer, err := f.request(http.MethodPost, f.replicas[0].address(), imports+"/"+path+"/", []byte(body))
	if err != nil || status != http.StatusCreated {
		f.t.Fatalf("%s: %d %s, %v", path, status, answer, err)
	}
}

// createFullAccount stages and creates an account with a row in every table.
func (f *fleet) createFullAccount(external string) {
	f.t.Helper()
	key := `"import_supplier":"` + supplier + `","external_account_number":"` + external + `"`
	f.must("account-import-process/create-or-update", `{`+key+`,"billing_name":"Ada `+external+`","customers":[{"family_name":"Lovelace","email":"ada`+external+`@mail.co.uk"}],
		"billing_address":{"country":"GB","street_address":"`+external+` Square"},"notes":[{"body":"note of `+external+`"}],
		"payment_instructions":[{"vendor":"`+vendor+`","reference":"ref-`+external+`","type":"CARD"}]}`)
	f.must("account-import-process/process", `{"import_supplier_code":"`+supplier+`","external_account_number":"`+external+`","operations_team_name":"`+team+`"}`)
	f.must("notes/create", `{`+key+`,"notes":[{"body":"another of `+external+`"}]}`)
}

// contents reads everything about some accounts.
func (f *fleet) contents(externals []string) map[string]string {
	f.t.Helper()
	store := f.open()
	defer store.Close()
	found := map[string]string{}
	err := store.View(f.t.Context(), func(view landfall.View) error {
		for _, external := range externals {
			key := landfall.Key{Supplier: supplier, External: external}
			account, err := view.Account(f.t.Context(), key)
			if err != nil {
				return fmt.Errorf("%s: %w", external, err)
			}
			revisions, err := view.Revisions(f.t.Context(), key)
			if err != nil {
				return fmt.Errorf("%s: %w", external, err)
			}
			mails, err := view.MailsOf(f.t.Context(), key)
			if err != nil {
				return fmt.Errorf("%s: %w", external, err)
			}
			text, err := json.Marshal([]any{account, revisions, mails})
			if err != nil {
				return err
			}
			found[external] = string(text)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}

// TestRekeyIsKilled changes the encryption key while accounts are created, and
// kills the command that changes it again and again. All data stays readable,
// and in the end the old key is not needed.
func TestRekeyIsKilled(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	onBoth(t, func(t *testing.T, f *fleet) {
		first, second := seal.NewKeyText(), seal.NewKeyText()
		random := rand.New(rand.NewPCG(seedOf(t), 3))
		var externals []string
		add := func(count int) {
			for range count {
				external := fmt.Sprintf("V-%04d", len(externals))
				f.createFullAccount(external)
				externals = append(externals, external)
			}
		}
		add(10) // not encrypted
		f.lock(first)
		add(30)
		f.lock(second, first)
		before := f.contents(externals)
		for range cycles(t, "LANDFALL_REKEY_KILLS", 8) {
			rekey := f.command("rekey")
			if err := rekey.Start(); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Duration(20+random.IntN(300))*time.Millisecond, func() { _ = rekey.Process.Kill() }) // unless it has finished
			add(2)
			_ = rekey.Wait()
		}
		f.operate("rekey")
		f.lock(second)
		f.operate("verify")
		after := f.contents(externals)
		for external, text := range before {
			if after[external] != text {
				t.Errorf("%s was %s and is %s", external, text, after[external])
			}
		}
		store := f.open()
		defer store.Close()
		if found, err := store.Encryption(t.Context()); err != nil || found.HasPlaintext || len(found.Keys) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
