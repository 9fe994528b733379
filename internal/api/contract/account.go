package contract

import (
	"context"
	"crypto/sha256"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// Account is an account object that was read: well-formed JSON, but not
// necessarily valid. Check reports what is wrong with it.
type Account struct {
	body     []byte
	document *rules.Document
	schema   *Schema
}

// ReadAccount reads the body of validate and stage. It returns an error only if
// the body is not a strict JSON object or the caller has disconnected; Check
// reports everything else at once. The body must not be modified afterwards.
func ReadAccount(ctx context.Context, body []byte) (*Account, error) {
	return plainSchema.ReadAccount(ctx, body)
}

// ReadAccount reads an account with the fields of the supplier's packs.
func (s *Schema) ReadAccount(ctx context.Context, body []byte) (*Account, error) {
	document, err := readDocument(ctx, s.account, body)
	if err != nil {
		return nil, err
	}
	return &Account{body: body, document: document, schema: s}, nil
}

// Key returns the account's key as far as it could be read.
func (a *Account) Key() landfall.Key { return keyOf(a.document.Root(), "import_supplier") }

// Release allows the memory of the account to be reused. Values returned before
// stay valid.
func (a *Account) Release() { a.document.Release() }

// Body returns the bytes that were sent.
func (a *Account) Body() []byte { return a.body }

// Hash is the content hash: SHA-256 of the bytes as sent. The document is stored
// as sent, so different formatting is different content. A hash of a canonical
// form would silently drop the newer one.
func (a *Account) Hash() [32]byte { return sha256.Sum256(a.body) }

// Check applies every rule that only needs the payload and the supplier's
// settings. A nil supplier means that the caller has no such supplier: that is
// one more violation, and the other rules use default settings. Call it once.
func (a *Account) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	root := a.document.Root()
	c := newChecker(a.document, supplier, now)
	c.checkSupplier(root, supplier)
	c.account(a.document)
	c.packs(a.schema, root)
	return c.verdict(landfall.CodeAccountFailedValidation, detailAccount)
}

// Verdict is the result of checking a request.
type Verdict struct {
	Errors   []landfall.Violation // they refuse the request
	Warnings []landfall.Violation // the request is accepted

	code, detail string
}

// Err returns the refusal, or nil if there are no errors.
func (v Verdict) Err() *landfall.Error {
	if len(v.Errors) == 0 {
		return nil
	}
	return &landfall.Error{Kind: landfall.Invalid, Code: v.code, Detail: v.detail, Violations: v.Errors}
}

// detailAccount is the detail of a refused account; the violations say the rest.
const detailAccount = "The account data is not valid."

// readDocument reads a body against a table with the limits of the service. It
// stops early if the caller disconnects.
func readDocument(ctx context.Context, table *rules.Table, body []byte) (*rules.Document, error) {
	document, fault := table.Read(body, rules.Limits{Done: ctx.Done()})
	if err := ctx.Err(); err != nil {
		return nil, landfall.UserError("reading a body", err)
	}
	if fault == nil {
		return document, nil
	}
	refusal := landfall.Refuse(fault.Code, fault.Detail)
	if fault.Code == rules.CodeMaxItems { // valid JSON so far, but too many values
		refusal = landfall.Refuse(landfall.CodeValidationFailed, detailRequest)
		if table.Name == accountTable.Name {
			refusal = landfall.Refuse(landfall.CodeAccountFailedValidation, detailAccount)
		}
	}
	if fault.Attr != "" {
		refusal.Violations = []landfall.Violation{landfall.Violation(*fault)}
	}
	return nil, refusal
}

// keyOf returns which account a body is about. Missing parts are empty, and then
// no supplier is found.
func keyOf(root *rules.Node, supplierField string) landfall.Key {
	return landfall.Key{
		Supplier: root.Field(supplierField).Text(),
		External: root.Field("external_account_number").Text(),
	}
}
