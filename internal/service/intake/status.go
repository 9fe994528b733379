package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
)

// ImportStatus is the status of an account import, as on the wire.
type ImportStatus string

// The three statuses.
const (
	StatusUnknown    ImportStatus = "UNKNOWN"     // staged, failed or skipped: no account
	StatusInProgress ImportStatus = "IN_PROGRESS" // the account is being created
	StatusCompleted  ImportStatus = "COMPLETED"   // an account exists
)

// AccountStatus is the import status of an account.
type AccountStatus struct {
	Status        ImportStatus
	AccountNumber string // "" until the account exists
}

// Detail is everything known about an account except its contents.
type Detail struct {
	Process landfall.Process
	Figures *landfall.AccountFigures // nil until the account exists
	// Fingerprint is the fingerprint of the account's record; "" until the account
	// exists and when the record was erased.
	Fingerprint string
	Delivery    landfall.AccountDelivery
	Undone      []landfall.UndoneAccount // undone accounts, oldest first
}

// StatusDetail is Status with details, from one snapshot.
func (s *Service) StatusDetail(ctx context.Context, who landfall.Principal, key landfall.Key) (AccountStatus, Detail, error) {
	var detail Detail
	var record []byte
	status, err := s.status(ctx, who, key, func(view landfall.View, process landfall.Process) error {
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
		if err != nil {
			return err
		}
		if detail.Delivery, err = view.AccountDelivery(ctx, key); err != nil {
			return err
		}
		revision, err := view.Revision(ctx, key, process.Revision)
		record = revision.Document
		return err
	})
	if err != nil {
		return AccountStatus{}, Detail{}, err
	}
	if record != nil {
		if detail.Fingerprint, err = contract.Fingerprint(record); err != nil {
			return AccountStatus{}, Detail{}, userError(err)
		}
	}
	return status, detail, nil
}

// Status returns the import status of an account. Callers cannot tell an account of
// a supplier without a grant from one that does not exist.
func (s *Service) Status(ctx context.Context, who landfall.Principal, key landfall.Key) (AccountStatus, error) {
	return s.status(ctx, who, key, func(landfall.View, landfall.Process) error { return nil })
}

// status reads the process, and calls more in the same view.
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
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
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

// errAccountNotFound is also returned for suppliers without a grant.
var errAccountNotFound = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeAccountNotFound,
	Detail: "There is no account for this import supplier and external account number.",
}

// importStatus maps a state to the wire: whatever is neither completed nor in
// progress is UNKNOWN.
func importStatus(state landfall.ProcessState) ImportStatus {
	switch state {
	case landfall.Imported:
		return StatusCompleted
	case landfall.Claimed:
		return StatusInProgress
	}
	return StatusUnknown
}
