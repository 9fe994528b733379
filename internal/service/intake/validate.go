package intake

import (
	"context"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// Accepted is an account that passed every rule.
type Accepted struct {
	Body     []byte // the request's own bytes: same fields, same values
	Added    int    // of a posting: how many were new
	Warnings []landfall.Violation
}

// Validate checks one account and stores nothing.
func (s *Service) Validate(ctx context.Context, who landfall.Principal, body []byte) (Accepted, error) {
	read, err := s.read(ctx, who, body)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Body: read.account.Body(), Warnings: read.warnings}, nil
}

// checked is an account document that was read, and its supplier.
type checked struct {
	account  *contract.Account // nil without a supplier that the caller may use
	supplier *landfall.Supplier
	warnings []landfall.Violation
}

// read parses an account document and applies every rule that needs only the
// payload and the supplier's settings, so that all violations are returned at once.
// An unknown supplier is one of them. A refusal includes the account if the caller
// may use its supplier.
func (s *Service) read(ctx context.Context, who landfall.Principal, body []byte) (checked, error) {
	expected := s.expectedSchema(ctx, who, body)
	account, err := expected.ReadAccount(ctx, body)
	if err != nil {
		return checked{}, err
	}
	supplier, err := s.Supplier(ctx, who, account.Key().Supplier)
	if err != nil {
		return checked{}, userError(err)
	}
	schema := contract.PlainSchema()
	if supplier != nil {
		if schema, err = s.schema(ctx, supplier); err != nil {
			return checked{}, userError(err)
		}
	}
	if schema != expected {
		account.Release()
		if account, err = schema.ReadAccount(ctx, body); err != nil {
			return checked{}, err
		}
	}
	verdict := account.Check(supplier, s.now())
	if err := verdict.Err(); err != nil {
		if supplier == nil {
			account = nil
		}
		return checked{account: account}, err
	}
	return checked{account, supplier, verdict.Warnings}, nil
}

// maxCode is how many bytes a supplier code can have.
const maxCode = 4 * 32

// expectedSchema returns the tables of the supplier that a body seems to name, before
// the body is read.
func (s *Service) expectedSchema(ctx context.Context, who landfall.Principal, body []byte) *contract.Schema {
	code, _, found := rules.Peek(body, "import_supplier", "external_account_number")
	// A code that is too long to be one must not become a key of the cache.
	if !found || len(code) > maxCode {
		return contract.PlainSchema()
	}
	supplier, err := s.Supplier(ctx, who, code)
	if err != nil || supplier == nil {
		return contract.PlainSchema()
	}
	schema, err := s.schema(ctx, supplier)
	if err != nil {
		return contract.PlainSchema()
	}
	return schema
}
