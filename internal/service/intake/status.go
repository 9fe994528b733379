package intake

import (
	"context"
	"errors"

	"landfall"
)

// ImportStatus is where an account import stands, as the wire spells it.
type ImportStatus string

// The three statuses.
const (
	StatusUnknown    ImportStatus = "UNKNOWN"     // staged, failed or skipped: no account
	StatusInProgress ImportStatus = "IN_PROGRESS" // somebody is creating it
	StatusCompleted  ImportStatus = "COMPLETED"   // an account exists
)

// AccountStatus is the answer to "how far is this account?".
type AccountStatus struct {
	Status        ImportStatus
	AccountNumber string // "" until the account exists
}

// Detail is all that is known about an account without its contents: enough to
// prove a migration.
type Detail struct {
	Process landfall.Process
	Figures *landfall.AccountFigures // nil until the account exists
	Undone  []landfall.UndoneAccount // accounts that were taken back, oldest first
}

// StatusDetail is Status with what stands behind it, from one snapshot.
func (s *Service) StatusDetail(ctx context.Context, who landfall.Principal, key landfall.Key) (AccountStatus, Detail, error) {
	var detail Detail
	standing, err := s.status(ctx, who, key, func(view landfall.View, process landfall.Process) error {
		detail.Process = process
		var err error
		if detail.Undone, err = view.UndoneAccounts(ctx, key); err != nil {
			return err
		}
		if process.State != landfall.Imported {
			return nil
		}
		figures, err := view.AccountFigures(ctx, key)
		detail.Figures = &figures
		return err
	})
	if err != nil {
		return AccountStatus{}, Detail{}, err
	}
	return standing, detail, nil
}

// Status tells how far one account is. An account of a supplier that was not
// granted is an account that does not exist.
func (s *Service) Status(ctx context.Context, who landfall.Principal, key landfall.Key) (AccountStatus, error) {
	return s.status(ctx, who, key, func(landfall.View, landfall.Process) error { return nil })
}

// status finds the process and lets more be read with it.
func (s *Service) status(
	ctx context.Context, who landfall.Principal, key landfall.Key, more func(landfall.View, landfall.Process) error,
) (AccountStatus, error) {
	supplier, err := s.Supplier(ctx, who, key.Supplier)
	if err != nil {
		return AccountStatus{}, userError(err)
	}
	if supplier == nil {
		return AccountStatus{}, errAccountNotFound
	}
	var process landfall.Process
	err = s.store.View(ctx, func(view landfall.View) (err error) {
		if process, err = view.Process(ctx, key); err != nil {
			return err
		}
		return more(view, process)
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return AccountStatus{}, errAccountNotFound
	}
	if err != nil {
		return AccountStatus{}, userError(err)
	}
	return AccountStatus{Status: importStatus(process.State), AccountNumber: process.AccountNumber}, nil
}

// errAccountNotFound is also told of accounts of suppliers without a grant.
var errAccountNotFound = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeAccountNotFound,
	Detail: "There is no account for this import supplier and external account number.",
}

// importStatus has a word for three states; whatever is neither done nor under way
// is unknown to the caller, as the contract says.
func importStatus(state landfall.ProcessState) ImportStatus {
	switch state {
	case landfall.Imported:
		return StatusCompleted
	case landfall.Claimed:
		return StatusInProgress
	}
	return StatusUnknown
}
