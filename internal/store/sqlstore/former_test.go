package sqlstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// formerRows are rows as the second step's program wrote them: a failed
// process, and an account with a note and two ledger entries.
var formerRows = []string{
	`INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone, send_customer_emails,
		verify_documents, concurrency_limit, severities, created_at)
	VALUES ('S', '', 'Ongoing', '', 'GBP', 'GB', 'Europe/London', FALSE, FALSE, 0, '{}', 1)`,
	`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, failure, failed_at)
	SELECT id, '0', 'staged', 1, CAST('x' AS {bytes}), 1, 1, '{"code":"lost","detail":"d"}', 5 FROM supplier`,
	`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, account_number, account_created_at)
	SELECT id, '1', 'imported', 1, CAST('x' AS {bytes}), 2, 2, 'A-00000000', 3 FROM supplier`,
	`INSERT INTO staging (process_id, revision, hash, staged_at, document)
	SELECT id, 1, {hash}, 1, '{"spelled":  "as sent"}' FROM process`,
	`INSERT INTO account (id, revision, team, account_type, currency, billing_name, open_from_on, balance, ledger_length,
		note_count, statement_count, instruction_count)
	SELECT id, 1, 'T', '', 'GBP', '', '2026-01-01', 3, 2, 1, 0, 0 FROM process WHERE external = '1'`,
	`INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, reason, note, document)
	SELECT id, 'B', 1, 'transaction', FALSE, 1, 1, 'PAYMENT', '2026-01-01', '', '', '{"id": "B"}' FROM account`,
	`INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, reason, note)
	SELECT id, 'A', 2, 'transaction', FALSE, 2, 3, 'PAYMENT', '2026-01-01', '', '' FROM account`,
	`INSERT INTO mail (account_id, ordinal, kind, recipient, queued_at) SELECT id, 1, 'account_migrated', 'a@b.co', 7 FROM account`,
	`INSERT INTO note (account_id, digest, ordinal, body, created_at, pinned) SELECT id, 7, 1, 'kept', 1, FALSE FROM account`,
}

// TestFormerRowsStayReadable brings a filled database of an earlier program up
// to date and reads everything back.
func TestFormerRowsStayReadable(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		sum := sha256.Sum256([]byte(`{"spelled":  "as sent"}`))
		hash := "X'" + hex.EncodeToString(sum[:]) + "'"
		if strings.HasPrefix(url, "postgres") {
			hash = `'\x` + hex.EncodeToString(sum[:]) + "'"
		}
		var rows []string
		for _, row := range formerRows {
			rows = append(rows, strings.ReplaceAll(row, "{hash}", hash))
		}
		if err := sqlstore.Former(t.Context(), url, 2, rows...); err != nil {
			t.Fatal(err)
		}
		store := open(t, url)
		err := store.View(t.Context(), func(view landfall.View) error {
			failed, err := view.Process(t.Context(), landfall.Key{Supplier: "S", External: "0"})
			if err != nil || failed.Failure == nil || failed.Failure.Code != "lost" {
				t.Errorf("the failed one is %+v", failed)
			}
			mails, err := view.MailsOf(t.Context(), held)
			if err != nil || len(mails) != 1 || mails[0].State != landfall.MailQueued || mails[0].To != "a@b.co" || mails[0].DueAt.UnixMicro() != 7 {
				t.Errorf("mails %+v, %v", mails, err)
			}
			revisions, err := view.Revisions(t.Context(), held)
			if err != nil || len(revisions) != 1 || string(revisions[0].Document) != `{"spelled":  "as sent"}` {
				t.Errorf("revisions %+v, %v", revisions, err)
			}
			account, err := view.Account(t.Context(), held)
			if err != nil {
				return err
			}
			if len(account.Ledger) != 2 || account.Ledger[0].Transaction.ID != "B" || len(account.Ledger[0].Transaction.Document) == 0 ||
				account.Ledger[1].Balance != 3 {
				t.Errorf("ledger %+v", account.Ledger)
			}
			if len(account.Data.Notes) != 1 || account.Data.Notes[0].Body != "kept" {
				t.Errorf("notes %+v", account.Data.Notes)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
