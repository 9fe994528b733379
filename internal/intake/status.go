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

// Standing is the answer to "how far is this account?".
type Standing struct {
	Status        ImportStatus
	AccountNumber string // "" until the account exists
}

// Status tells how far one account is. An account of a supplier that was not
// granted is an account that does not exist.
func (d *Desk) Status(ctx context.Context, who landfall.Principal, key landfall.Key) (Standing, error) {
	supplier, err := d.supplier(ctx, who, key.Supplier)
	if err != nil {
		return Standing{}, trouble(err)
	}
	if supplier == nil {
		return Standing{}, errAccountNotFound
	}
	var process landfall.Process
	err = d.store.View(ctx, func(view landfall.View) error {
		process, err = view.Process(ctx, key)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return Standing{}, errAccountNotFound
	}
	if err != nil {
		return Standing{}, trouble(err)
	}
	return Standing{Status: importStatus(process.State), AccountNumber: process.AccountNumber}, nil
}

var errAccountNotFound = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeAccountNotFound,
	Detail: "There is no account for this import supplier and external account number.",
}

func importStatus(state landfall.ProcessState) ImportStatus {
	switch state {
	case landfall.Imported:
		return StatusCompleted
	case landfall.Claimed:
		return StatusInProgress
	}
	return StatusUnknown
}
