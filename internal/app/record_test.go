package app_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"landfall"
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

// verify said that everything held whatever the rows of an account said. It
// derives each account from its record again and names what differs.
func TestVerifyNamesWhatDiffersFromTheRecord(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		sent := w.createFull(t)
		c := w.customer(t)
		for external := range sent {
			note := fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":%q,"notes":[{"body":"added later"}]}`, external)
			if _, err := c.AddNotes(t.Context(), note); err != nil {
				t.Fatal(err)
			}
		}
		findings := func() (found []string) {
			t.Helper()
			if _, err := w.operator.Verify(t.Context(), func(finding landfall.Finding) error {
				found = append(found, finding.Key.External+": "+finding.What)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := findings(); len(found) > 0 {
			t.Fatalf("nothing was changed, and verify found %v", found)
		}
		const account = ` account_id = (SELECT id FROM process WHERE external = 'Kunde Nr. 4711/ß')`
		for _, change := range []struct{ statement, back, want string }{
			{`UPDATE customer SET family_name = family_name || 'x' WHERE ordinal = 1 AND`, `UPDATE customer SET family_name = substr(family_name, 1, length(family_name) - 1) WHERE ordinal = 1 AND`, "customers.0.family_name"},
			{`UPDATE address SET locality = locality || 'x' WHERE ordinal = 1 AND`, `UPDATE address SET locality = substr(locality, 1, length(locality) - 1) WHERE ordinal = 1 AND`, "supply_addresses.0.address.locality"},
			{`UPDATE supply_point SET identifier = identifier || '1' WHERE ordinal = 1 AND`, `UPDATE supply_point SET identifier = substr(identifier, 1, length(identifier) - 1) WHERE ordinal = 1 AND`, "supply_addresses.0.supply_points.0.identifier"},
			{`UPDATE agreement SET product_code = product_code || 'x' WHERE ordinal = 1 AND`, `UPDATE agreement SET product_code = substr(product_code, 1, length(product_code) - 1) WHERE ordinal = 1 AND`, "agreements.0.product_code"},
			{`UPDATE meter SET serial_number = serial_number || 'x' WHERE ordinal = 1 AND`, `UPDATE meter SET serial_number = substr(serial_number, 1, length(serial_number) - 1) WHERE ordinal = 1 AND`, "meters.0.serial_number"},
			{`UPDATE note SET body = body || 'x' WHERE ordinal = 1 AND`, `UPDATE note SET body = substr(body, 1, length(body) - 1) WHERE ordinal = 1 AND`, "notes.0.body"},
			{`UPDATE historical_statement SET number = number || 'x' WHERE ordinal = 1 AND`, `UPDATE historical_statement SET number = substr(number, 1, length(number) - 1) WHERE ordinal = 1 AND`, "statements.0.number"},
			{`UPDATE payment_schedule SET frequency = frequency || 'x' WHERE ordinal = 1 AND`, `UPDATE payment_schedule SET frequency = substr(frequency, 1, length(frequency) - 1) WHERE ordinal = 1 AND`, "payment_schedules.0.frequency"},
			{`UPDATE ledger_entry SET reason = reason || 'x' WHERE sequence = 1 AND`, `UPDATE ledger_entry SET reason = substr(reason, 1, length(reason) - 1) WHERE sequence = 1 AND`, "ledger.0.transaction.reason"},
			{`UPDATE statement_period SET balance = balance + 1 WHERE ordinal = 1 AND`, `UPDATE statement_period SET balance = balance - 1 WHERE ordinal = 1 AND`, "periods.0.balance"},
		} {
			if rows := w.execute(t, change.statement+account); rows == 0 {
				t.Errorf("%s changed nothing", change.statement)
				continue
			}
			found := strings.Join(findings(), "\n")
			if !strings.Contains(found, "Kunde Nr. 4711/ß: ") || !strings.Contains(found, change.want+" is not what the record") {
				t.Errorf("%s: found %s", change.statement, found)
			}
			w.execute(t, change.back+account)
		}
		if found := findings(); len(found) > 0 {
			t.Errorf("everything was put back, and verify found %v", found)
		}
		// A row that names another one which does not exist stopped the program.
		for _, change := range []struct{ column, want string }{
			{"agreement SET supply_point", "an agreement belongs to supply point 78, which does not exist"},
			{"meter SET supply_point", "a meter belongs to supply point 78, which does not exist"},
			{"supply_point SET address", "supply point 1 is at supply address 78, which does not exist"},
		} {
			_, name, _ := strings.Cut(change.column, " SET ")
			if rows := w.execute(t, `UPDATE `+change.column+` = `+name+` + 77 WHERE ordinal = 1 AND `+name+` = 1 AND`+account); rows == 0 {
				t.Errorf("%s changed nothing", change.column)
			}
			if found := strings.Join(findings(), "\n"); !strings.Contains(found, "Kunde Nr. 4711/ß: the account cannot be read: ") || !strings.Contains(found, change.want) {
				t.Errorf("%s: found %s", change.column, found)
			}
			w.execute(t, `UPDATE `+change.column+` = 1 WHERE `+name+` = 78 AND`+account)
		}
		// The index by which other accounts with a supply point are found.
		const row = ` WHERE ordinal = 1 AND process_id = (SELECT id FROM process WHERE external = 'Kunde Nr. 4711/ß')`
		for _, statement := range []string{
			`UPDATE account_identifier SET value = value || 'x'`, `UPDATE account_identifier SET value = substr(value, 1, length(value) - 1), to_on = '1999-01-01'`,
			`UPDATE account_identifier SET to_on = NULL, digest = digest + 1`, `DELETE FROM account_identifier`,
		} {
			if rows := w.execute(t, statement+row); rows != 1 {
				t.Errorf("%s changed %d rows", statement, rows)
			}
			if found := strings.Join(findings(), "\n"); found != "Kunde Nr. 4711/ß: the index of each supply point is not what the record of the account says" {
				t.Errorf("%s: found %s", statement, found)
			}
		}
	})
}
