package intake

import (
	"context"

	"landfall"
	"landfall/internal/api/contract"
)

// Accepted is an account that passed every rule.
type Accepted struct {
	Body     []byte // the request's own bytes: same fields, same values
	Added    int    // of a posting: how many were new
	Warnings []landfall.Violation
}

// Validate checks one account and keeps nothing.
func (s *Service) Validate(ctx context.Context, who landfall.Principal, body []byte) (Accepted, error) {
	read, err := s.read(ctx, who, body)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Body: read.account.Body(), Warnings: read.warnings}, nil
}

// checked is an account document that was read, and whose it is.
type checked struct {
	account  *contract.Account // nil when there is nobody whose account it could be
	supplier *landfall.Supplier
	warnings []landfall.Violation
}

// read understands an account document and applies every rule that needs only
// the payload and the supplier's settings, so that all violations are told at
// once. An unknown supplier is one of them. With a refusal comes the account,
// when it is one of a supplier the caller may use.
func (s *Service) read(ctx context.Context, who landfall.Principal, body []byte) (checked, error) {
	account, err := contract.ReadAccount(ctx, body)
	if err != nil {
		return checked{}, err
	}
	supplier, err := s.Supplier(ctx, who, account.Key().Supplier)
	if err != nil {
		return checked{}, userError(err)
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
