package sqlstore_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
)

// lookalikes are texts that an importer sends while nothing is encrypted, so that
// they pass for encrypted ones later.
func lookalikes() []string {
	spell := func(first byte) string {
		return "⟦" + base64.RawURLEncoding.EncodeToString(append([]byte{first}, make([]byte, 60)...))
	}
	return []string{spell(0xE1), spell(0xE2), `"` + spell(0xE1) + `"`, "⟦", "⟦~", "⟦~" + spell(0xE1), "⟦brackets⟧"}
}

// TestTextThatLooksSealedDoesNotStopRekey stores such texts before there is a key.
// They must come back unchanged before, during and after the first encryption,
// and must still be recognised when they are sent again.
func TestTextThatLooksSealedDoesNotStopRekey(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		bare := openStore(t, url)
		prepareStore(t, bare, "1")
		create(t, bare, "1", disguised(t), lookalikes()[0])
		if err := bare.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.CreateOperator(t.Context(), landfall.Operator{Name: "ada", Role: landfall.ConsoleSupport, TOTPSecret: lookalikes()[0]})
		}); err != nil {
			t.Fatal(err)
		}
		sameAsSent(t, bare)
		if err := bare.Close(); err != nil {
			t.Fatal(err)
		}
		store := openStore(t, url, seal.NewKey())
		sameAsSent(t, store)
		rekey(t, store)
		sameAsSent(t, store)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}

// disguised returns an account with a customer, a note, an address, a statement
// and an instruction for each lookalike.
func disguised(t *testing.T) landfall.Account {
	account := sampleAccount(t)
	data := &account.Data
	data.BillingName = lookalikes()[0]
	data.BillingAddress.Lines, data.BillingAddress.Locality = lookalikes(), lookalikes()[0]
	data.Customers, data.Notes, data.Statements, data.Instructions = nil, nil, nil, nil
	for i, word := range lookalikes() {
		data.Customers = append(data.Customers, landfall.Customer{GivenName: word, FamilyName: word, Email: word, Mobile: word})
		data.Notes = append(data.Notes, landfall.Note{Body: word, HasBody: true})
		data.Statements = append(data.Statements, landfall.Statement{ID: fmt.Sprint(i), Path: word})
		data.Instructions = append(data.Instructions, landfall.Instruction{Vendor: "V", Reference: word, Type: "CARD"})
	}
	account.Ledger[1].Transaction.Reason, account.Ledger[1].Transaction.Note = lookalikes()[0], lookalikes()[1]
	return account
}

// sameAsSent compares a stored account with what was sent, and sends its notes and
// instructions again.
func sameAsSent(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	want := disguised(t)
	if err := store.View(t.Context(), func(view landfall.View) error {
		account, err := view.Account(t.Context(), testKey)
		if err != nil {
			return err
		}
		got := account.Data
		for what, same := range map[string]bool{
			"name": got.BillingName == want.Data.BillingName, "address": fmt.Sprint(got.BillingAddress) == fmt.Sprint(want.Data.BillingAddress),
			"customers": fmt.Sprint(got.Customers) == fmt.Sprint(want.Data.Customers), "entry": account.Ledger[1].Transaction.Note == want.Ledger[1].Transaction.Note,
		} {
			if !same {
				t.Errorf("the %s differs: %+v", what, account)
			}
		}
		for i, word := range lookalikes() {
			if got.Notes[i].Body != word || got.Statements[i].Path != word || got.Instructions[i].Reference != word {
				t.Errorf("%q: %q, %q, %q", word, got.Notes[i].Body, got.Statements[i].Path, got.Instructions[i].Reference)
			}
		}
		mails, err := view.MailsOf(t.Context(), testKey)
		if err == nil && (len(mails) != 1 || mails[0].To != lookalikes()[0]+"0@mail.co.uk") {
			t.Errorf("mails: %+v", mails)
		}
		operator, operatorErr := view.Operator(t.Context(), "ada")
		if operator.TOTPSecret != lookalikes()[0] {
			t.Errorf("operator: %+v", operator)
		}
		return errors.Join(err, operatorErr)
	}); err != nil {
		t.Error(err)
	}
	if _, err := store.Post(t.Context(), landfall.Posting{Key: testKey, Notes: want.Data.Notes, Instructions: want.Data.Instructions,
		Decide: func(books landfall.AccountState) (landfall.Additions, error) {
			if sent := len(lookalikes()); len(books.Notes) != sent || len(books.Instructions) != sent {
				t.Errorf("%d notes and %d instructions are recognised", len(books.Notes), len(books.Instructions))
			}
			return landfall.Additions{}, nil
		}}); err != nil {
		t.Error(err)
	}
}

// TestOldKeyAndOldCopyFindNothingNew takes the stolen old key and what an old copy
// of the database says about its encryption, and tries them on the database after
// the key was changed: by guessing references, notes and names.
func TestOldKeyAndOldCopyFindNothingNew(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		const word = "Kanarienvogel"
		first, second := seal.NewKey(), seal.NewKey()
		before := openStore(t, url, first)
		writePersonalData(t, before, word)
		rekey(t, before)
		force(t, before, `CREATE TABLE old_copy AS SELECT * FROM encryption_key`)
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		during := openStore(t, url, second, first)
		if step := rekey(t, during); !slices.Equal(step.DroppedKeys, []string{first.ID()}) {
			t.Fatalf("got %+v", step)
		}
		guess := landfall.Instruction{Vendor: "V", Reference: "written after the change", Type: "CARD"}
		if _, err := during.Post(t.Context(), landfall.Posting{Key: testKey, Instructions: []landfall.Instruction{guess},
			Decide: func(landfall.AccountState) (landfall.Additions, error) {
				return landfall.Additions{Instructions: []landfall.Instruction{guess}}, nil
			}}); err != nil {
			t.Fatal(err)
		}
		force(t, during, `DELETE FROM encryption_key`)
		force(t, during, `INSERT INTO encryption_key SELECT * FROM old_copy`)
		if err := during.Close(); err != nil {
			t.Fatal(err)
		}
		thief := openStore(t, url, first)
		for what, wanted := range map[string]landfall.Posting{
			"the reference": {Instructions: []landfall.Instruction{guess}},
			"the note":      {Notes: []landfall.Note{{Body: "posted " + word, HasBody: true}}},
		} {
			wanted.Key = testKey
			wanted.Decide = func(books landfall.AccountState) (landfall.Additions, error) {
				if found := len(books.Instructions) + len(books.Notes); found > 0 {
					t.Errorf("the old key finds %s", what)
				}
				return landfall.Additions{}, nil
			}
			if _, err := thief.Post(t.Context(), wanted); err != nil {
				t.Errorf("the old key finds %s: %v", what, err)
			}
		}
		if found, err := thief.Search(t.Context(), nameQuery(word)); err != nil || len(found.Accounts) > 0 {
			t.Errorf("the old key finds the name: %+v, %v", found, err)
		}
		var shown landfall.Account
		err := thief.View(t.Context(), func(view landfall.View) (err error) {
			shown, err = view.Account(t.Context(), testKey)
			return err
		})
		if !errors.Is(err, seal.ErrNoKey) {
			t.Errorf("the old key opens %+v, %v", shown, err)
		}
	})
}

// forgedColumns are the sealed columns with a value in the clear that someone
// with access to the database could write there.
var forgedColumns = map[string]string{
	"customer.email": `'forged@example.org'`, "customer.family_name": `'⟦~⟦forged'`, "customer.born_on": `'2000-01-01'`,
	"account.billing_name": `'forged'`, "address.lines": `'["forged"]'`, "address.country": `'XX'`, "supply_point.identifier": `'forged'`,
	"meter.serial_number": `'forged'`, "meter.registers": `'[{"id":"forged"}]'`, "note.body": `'forged'`, "note.document_paths": `'["forged"]'`,
	"ledger_entry.reason": `'forged'`, "ledger_entry.document": `'{"forged":1}'`, "historical_statement.path": `'forged'`,
	"instruction.reference": `'forged' || CAST(ordinal AS TEXT)`, "instruction.last_digits": `'0000'`, "mail.recipient": `'forged' || CAST(id AS TEXT)`, "mail.reply": `'forged'`,
	"process.failure": `'{"code":"forged"}'`, "refusal.failure": `'{"code":"forged"}'`, "run_failure.failure": `'{"code":"forged"}'`,
	"staging.document": `CAST('{"forged":1}' AS {bytes})`, "staging.hash": `CAST('0123456789abcdef0123456789abcdef' AS {bytes})`,
	"process.hash": `CAST('0123456789abcdef0123456789abcdef' AS {bytes})`, "operator.totp_secret": `'FORGED'`,
}

// TestPlaintextInAnEncryptedDatabaseIsRefused writes values in the clear into a
// database in which everything was encrypted. Nothing shows them as genuine, the
// inspection names each, and changing the key does not encrypt them.
func TestPlaintextInAnEncryptedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		const word = "Kanarienvogel"
		first, second := seal.NewKey(), seal.NewKey()
		store := openStore(t, url, first)
		writePersonalData(t, store, word)
		rekey(t, store)
		checkPersonalData(t, store, word)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("nothing is forged, and yet %v", found)
		}
		force(t, store, `UPDATE customer SET email = 'forged@example.org' WHERE ordinal = 1`)
		shownForged(t, store)
		turning := changeKey(t, store, url, second, first)
		for column, value := range forgedColumns {
			table, name, _ := strings.Cut(column, ".")
			force(t, turning, `UPDATE `+table+` SET `+name+` = `+value)
		}
		found, _ := inspect(t, turning)
		for column := range forgedColumns {
			if !slices.ContainsFunc(found, func(one string) bool { return strings.Contains(one, column+" ") }) {
				t.Errorf("%s is not named in %q", column, found)
			}
		}
	})
}

// shownForged checks that no reader believes a forged address.
func shownForged(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	err := store.View(t.Context(), func(view landfall.View) error {
		account, err := view.Account(t.Context(), testKey)
		if err == nil {
			t.Errorf("the forged address is shown: %+v", account.Data.Customers)
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "customer.email") {
		t.Errorf("the row is not named: %v", err)
	}
}

// changeKey changes the key and checks that a forged address was not encrypted.
func changeKey(t *testing.T, store *sqlstore.Store, url string, keys ...seal.Key) *sqlstore.Store {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	turning := openStore(t, url, keys...)
	rekey(t, turning)
	if found, err := turning.Texts(t.Context(), `SELECT email FROM customer WHERE email <> ''`); err != nil || !slices.Contains(found, "forged@example.org") {
		t.Errorf("the forgery was encrypted: %v, %v", found, err)
	}
	shownForged(t, turning)
	return turning
}
