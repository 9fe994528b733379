package app_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"landfall/client"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/kit/generate"
	"landfall/internal/service/operate"
)

// Twenty-eight documented fields existed only in the staged document, and a purge
// removed them from created accounts. Whatever was accepted must come back in
// every attr, with and without encryption.
func TestPurgedAccountsStillHaveEveryField(t *testing.T) {
	for name, keys := range map[string][]string{"plain": nil, "encrypted": {"only"}} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, database string) {
				w := newWorld(t, database, func(settings *app.Settings) {
					if keys != nil {
						settings.EncryptionKey = (&world{words: map[string]string{}}).encryptionKeys(keys)
					}
				})
				w.purgeAndCompare(t, w.createFull(t))
			})
		})
	}
}

// createFull creates accounts that together fill every documented field, each
// staged twice, and returns what was sent.
func (w *world) createFull(t *testing.T) map[string][]byte {
	t.Helper()
	c, ctx, sent := w.customer(t), t.Context(), map[string][]byte{}
	var documents [][]byte
	for i := range 5 {
		documents = append(documents, generate.Options{Accounts: 5, Seed: 3, Supplier: "NORTH", AsOf: generate.DefaultAsOf}.Draw(i).Account)
	}
	for _, name := range []string{"large", "typical"} {
		document, err := os.ReadFile("../api/contract/testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, bytes.ReplaceAll(document, []byte("DEMO_ENERGY"), []byte("NORTH")))
	}
	for _, document := range documents {
		account, err := contract.ReadAccount(ctx, document)
		if err != nil {
			t.Fatal(err)
		}
		external := account.Key().External
		superseded := fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":%q,"customers":[{"family_name":"Superseded"}]}`, external)
		for _, revision := range []string{superseded, string(document)} {
			if _, err := c.Stage(ctx, revision); err != nil {
				t.Fatalf("%s: %v", external, err)
			}
		}
		if _, err := c.Process(ctx, client.Creation{Supplier: "NORTH", External: external, Team: "Migration Team"}); err != nil {
			t.Fatalf("%s: %v", external, err)
		}
		sent[external] = document
	}
	return sent
}

// purgeAndCompare removes everything that retention removes, and reads all
// accounts back.
func (w *world) purgeAndCompare(t *testing.T, sent map[string][]byte) {
	t.Helper()
	ctx, keep, none := t.Context(), time.Hour, time.Duration(0)
	if _, err := w.operator.SetSupplier(ctx, "NORTH", operate.SupplierChange{KeepStaged: &keep, UndoWindow: &none}); err != nil {
		t.Fatal(err)
	}
	w.execute(t, `UPDATE process SET first_staged_at = first_staged_at - 8640000000000, staged_at = staged_at - 8640000000000,
		account_created_at = account_created_at - 8640000000000`)
	if purged, err := w.operator.Purge(ctx, "NORTH", false); err != nil || purged[0].Gone.Documents != len(sent) {
		t.Fatalf("%+v, %v", purged, err) // the superseded ones
	}
	reader, err := client.New(w.server.URL, client.WithKey(w.words["reader key"]))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for account, err := range reader.Accounts(ctx, "NORTH", client.AccountQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		document := sent[account.External]
		differences, err := contract.AccountDifferences(document, account.Data)
		fingerprint, _ := contract.Fingerprint(document)
		if err != nil || len(differences) > 0 || fingerprint != account.Fingerprint {
			t.Errorf("%s: %v, %v, %s is not %s", account.External, differences, err, account.Fingerprint, fingerprint)
		}
		single, err := reader.Account(ctx, "NORTH", account.External)
		if err != nil || !bytes.Equal(single.Data, bytes.TrimSpace(document)) && !bytes.Equal(single.Data, document) {
			t.Errorf("%s is not what was sent, byte for byte: %v", account.External, err)
		}
		status, err := reader.Status(ctx, "NORTH", account.External)
		if err != nil || status.Fingerprint != fingerprint {
			t.Errorf("%s: %+v, %v", account.External, status, err)
		}
		count++
	}
	if count != len(sent) {
		t.Errorf("%d accounts of %d", count, len(sent))
	}
}
