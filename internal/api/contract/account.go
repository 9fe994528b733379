package contract

import (
	"context"
	"crypto/sha256"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// Account is an account object that was read: well-formed JSON, though not
// necessarily right. Check says what is wrong with it.
type Account struct {
	body     []byte
	document *rules.Document
}

// ReadAccount reads the body of validate and stage. Its only error is a
// *landfall.Error for bytes that are no strict JSON object, or for a caller who
// has left; everything else is told by Check, all at once. The body must not be
// changed afterwards.
func ReadAccount(ctx context.Context, body []byte) (*Account, error) {
	document, err := readDocument(ctx, accountTable, body)
	if err != nil {
		return nil, err
	}
	return &Account{body: body, document: document}, nil
}

// Key gives the account's key as far as it could be read.
func (a *Account) Key() landfall.Key { return keyOf(a.document.Root(), "import_supplier") }

// Release says that the account is not looked at any more. What it has given
// stays.
func (a *Account) Release() { a.document.Release() }

// Body gives the bytes that were sent.
func (a *Account) Body() []byte { return a.body }

// Hash is the content hash: SHA-256 of the bytes as they were sent. The
// document is kept in its own spelling, so two spellings are two contents; a
// hash of some canonical form would drop the newer one in silence.
func (a *Account) Hash() [32]byte { return sha256.Sum256(a.body) }

// Check applies every rule that needs only the payload and the supplier's
// settings. A nil supplier is one this caller does not know, which is one more
// violation; the other rules then use the default settings. Check is meant to
// be called once.
func (a *Account) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	root := a.document.Root()
	c := newChecker(a.document, supplier, now)
	c.checkSupplier(root, supplier)
	c.account(root)
	return c.verdict(landfall.CodeAccountFailedValidation, detailAccount)
}

// Verdict is what the rules say about a request.
type Verdict struct {
	Errors   []landfall.Violation // refuse it
	Warnings []landfall.Violation // accept it, and tell

	code, detail string
}

// Err gives the refusal, or nil when there are no errors.
func (v Verdict) Err() *landfall.Error {
	if len(v.Errors) == 0 {
		return nil
	}
	return &landfall.Error{Kind: landfall.Invalid, Code: v.code, Detail: v.detail, Violations: v.Errors}
}

// detailAccount is what a refused account says as a whole; the violations say
// the rest.
const detailAccount = "The account data is not valid."

// readDocument reads a body against a table with the service's limits. It stops soon
// after the caller has left: nobody wants to know any more.
func readDocument(ctx context.Context, table *rules.Table, body []byte) (*rules.Document, error) {
	document, fault := table.Read(body, rules.Limits{Done: ctx.Done()})
	if err := ctx.Err(); err != nil {
		return nil, landfall.UserError("reading a body", err)
	}
	if fault == nil {
		return document, nil
	}
	refusal := landfall.Refuse(fault.Code, fault.Detail)
	if fault.Code == rules.CodeMaxItems { // sound so far, but too much of it
		refusal = landfall.Refuse(landfall.CodeValidationFailed, detailRequest)
		if table == accountTable {
			refusal = landfall.Refuse(landfall.CodeAccountFailedValidation, detailAccount)
		}
	}
	if fault.Attr != "" {
		refusal.Violations = []landfall.Violation{landfall.Violation(*fault)}
	}
	return nil, refusal
}

// keyOf reads which account a body is about. What is not there is empty, and
// then no supplier is found by it.
func keyOf(root *rules.Node, supplierField string) landfall.Key {
	return landfall.Key{
		Supplier: root.Field(supplierField).Text(),
		External: root.Field("external_account_number").Text(),
	}
}
