package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/ledger"
)

// recordsAtOnce is how many accounts are compared between two pauses.
const recordsAtOnce = 50

// VerifyRecords derives every account from its record again and compares the
// result with the rows of the account. It reads one account at a time, so memory
// does not grow with their number.
// An account that cannot be read is a finding. After every few accounts it calls
// pause, if that is not nil, with the time they took.
func (o *Operator) VerifyRecords(ctx context.Context, each func(landfall.Finding) error, pause func(ctx context.Context, took time.Duration) error) error {
	var suppliers []landfall.Supplier
	if err := o.view(ctx, "verify", func(view landfall.View) (err error) {
		suppliers, err = view.Suppliers(ctx)
		return err
	}); err != nil {
		return err
	}
	began, checked := time.Now(), 0
	for _, supplier := range suppliers {
		for entry, err := range o.store.List(ctx, landfall.ProcessQuery{Supplier: supplier.Code, Filter: landfall.ImportedProcesses}) {
			if err != nil {
				return storeError("verify", err)
			}
			key := landfall.Key{Supplier: supplier.Code, External: entry.External}
			found, err := o.verifyRecord(ctx, supplier, key)
			switch {
			case err != nil && (ctx.Err() != nil || errors.Is(err, landfall.ErrUnavailable)):
				return err
			case err != nil:
				if err := each(landfall.Finding{Key: key, What: "the account cannot be read: " + err.Error()}); err != nil {
					return err
				}
			}
			if checked++; pause != nil && checked%recordsAtOnce == 0 {
				if err := pause(ctx, time.Since(began)); err != nil {
					return err
				}
				began = time.Now()
			}
			for _, attr := range found {
				if err := each(landfall.Finding{Key: key, What: attr + " is not what the record of the account says"}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// recordedAccount is an account as its rows have it, with its record. Its lists
// are as long as those of the derived account, at most.
type recordedAccount struct {
	landfall.Account
	record []byte
}

// verifyRecord returns what differs between an account and its record.
func (o *Operator) verifyRecord(ctx context.Context, supplier landfall.Supplier, key landfall.Key) (found []string, err error) {
	var stored recordedAccount
	var derived landfall.Account
	var identifiers, wanted []landfall.Identifier
	err = o.view(ctx, "verify", func(view landfall.View) error {
		whole, err := view.WholeAccount(ctx, key)
		if err != nil || whole.Record == nil {
			return err
		}
		page, err := view.AccountPage(ctx, key, landfall.AccountPageQuery{})
		if err != nil {
			return err
		}
		schema, err := contract.OpenSchema(page.Packs, func(name string) ([]byte, error) { return packText(ctx, view, name) })
		if err != nil {
			return err
		}
		account, err := schema.ReadAccount(ctx, whole.Record)
		if err != nil {
			return fmt.Errorf("the record of %q of supplier %s cannot be read", key.External, key.Supplier)
		}
		defer account.Release()
		stored = recordedAccount{page.Account, whole.Record}
		derived = derivedLike(account.Data(), supplier, page.Account)
		wanted = account.Identifiers(&supplier)
		if identifiers, err = view.Identifiers(ctx, key); err != nil {
			return err
		}
		return stored.loadLists(ctx, view, whole, derived)
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound): // undone meanwhile
		return nil, nil
	case err != nil:
		return nil, err
	case stored.record == nil: // erased
		return nil, nil
	}
	return append(compareDerived(&stored.Account, &derived), compareIdentifiers(identifiers, wanted)...), nil
}

// compareIdentifiers returns what differs between the stored identifiers of an
// account and those of its record. Payment instructions may have been added later.
func compareIdentifiers(stored, wanted []landfall.Identifier) (found []string) {
	count := map[landfall.Identifier]int{}
	bare := func(one landfall.Identifier) landfall.Identifier {
		one.Attr, one.Unique = "", false
		return one
	}
	for _, one := range wanted {
		if one.Kind != landfall.IdentifierExternalNumber {
			count[bare(one)]--
		}
	}
	for _, one := range stored {
		count[bare(one)]++
	}
	for _, kind := range landfall.IdentifierKinds {
		for one, difference := range count {
			if one.Kind == kind && (difference < 0 || difference > 0 && kind != landfall.IdentifierInstruction) {
				found = append(found, "the index of each "+strings.ReplaceAll(string(kind), "_", " "))
				break
			}
		}
	}
	return found
}

// loadLists reads as much of the lists as came from the record.
func (a *recordedAccount) loadLists(ctx context.Context, view landfall.View, whole landfall.WholeAccount, derived landfall.Account) error {
	wanted := landfall.ListLengths{
		Entries: min(whole.Lengths.Entries, len(derived.Ledger)), Notes: min(whole.Lengths.Notes, len(derived.Data.Notes)),
		Statements: min(whole.Lengths.Statements, len(derived.Data.Statements)), Instructions: min(whole.Lengths.Instructions, len(derived.Data.Instructions)),
	}
	var read landfall.AccountLists
	for read.Lengths() != wanted {
		more, err := view.AccountLists(ctx, landfall.AccountListsQuery{Key: whole.Key, CreatedAt: whole.CreatedAt, After: read.Lengths(), UpTo: wanted})
		if err != nil {
			return err
		}
		if more.Lengths() == (landfall.ListLengths{}) {
			break // rows are missing, which the comparison reports
		}
		read.Entries, read.Notes = append(read.Entries, more.Entries...), append(read.Notes, more.Notes...)
		read.Statements, read.Instructions = append(read.Statements, more.Statements...), append(read.Instructions, more.Instructions...)
	}
	a.Ledger, a.Data.Notes, a.Data.Statements, a.Data.Instructions = read.Entries, read.Notes, read.Statements, read.Instructions
	return nil
}

// derivedLike derives an account from its record. It was created with the clock
// of a server, perhaps just before midnight, and maybe with other settings of the
// supplier: of the days around its creation, the one that explains its periods
// counts.
func derivedLike(data landfall.AccountData, supplier landfall.Supplier, stored landfall.Account) landfall.Account {
	if data.Currency == "" {
		data.Currency = stored.Data.Currency
	}
	var first landfall.Account
	for i, shift := range []time.Duration{0, -clockTolerance, clockTolerance} {
		now := stored.CreatedAt.Add(shift)
		derived, _ := ledger.NewAccount(data, supplier, now)
		derived.CreatedAt = now
		if i == 0 {
			first = derived
		}
		if len(compareValues("periods", stored.Periods, derived.Periods)) == 0 {
			return derived
		}
	}
	return first
}
