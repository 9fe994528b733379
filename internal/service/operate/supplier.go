package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// SupplierChange is a change of a supplier's settings. A nil field leaves the
// setting as it is.
type SupplierChange struct {
	Name               *string
	Status             *landfall.SupplierStatus
	DocumentRoot       *string
	Currency           *string
	StatementAmounts   *landfall.AmountUnit
	Region             *string
	TimeZone           *string
	ConcurrencyLimit   *int
	UndoWindow         *time.Duration
	KeepStaged         *time.Duration
	KeepFailures       *time.Duration
	KeepMails          *time.Duration
	KeepEvents         *time.Duration
	KeepRuns           *time.Duration
	MailDelay          *time.Duration
	VerifyDocuments    *bool
	SendCustomerEmails *bool
	Target             *string   // code of a target; "" for none
	Packs              *[]string // names of packs; they replace the present ones
	// Severities are the rules to set; the others keep their severity. An empty
	// severity resets a rule to its default.
	Severities map[string]landfall.Severity
}

// SetRule adds the severity of a rule, written as RULE=SEVERITY; default means that
// of the rule book.
func (c *SupplierChange) SetRule(text string) error {
	code, severity, ok := strings.Cut(text, "=")
	if !ok || severity == "" {
		return errors.New("want RULE=error, warning, off or default")
	}
	if severity == "default" {
		severity = ""
	}
	if c.Severities == nil {
		c.Severities = map[string]landfall.Severity{}
	}
	c.Severities[code] = landfall.Severity(severity)
	return nil
}

// SetPacks sets the packs of the supplier; the name none means no packs.
func (c *SupplierChange) SetPacks(names []string) {
	if slices.Equal(names, []string{"none"}) {
		names = []string{}
	}
	c.Packs = &names
}

// SupplierFacts is everything an operator sees about a supplier.
type SupplierFacts struct {
	landfall.Supplier
	Grantees []string // names of the organisations that may use it
}

// CreateSupplier creates a supplier with the defaults and the given settings.
func (o *Operator) CreateSupplier(ctx context.Context, code string, change SupplierChange) (landfall.Supplier, error) {
	if err := checkCode("supplier", code); err != nil {
		return landfall.Supplier{}, err
	}
	var supplier landfall.Supplier
	err := o.change(ctx, "supplier.create", code, func(tx landfall.Tx) (string, error) {
		supplier = landfall.NewSupplier(code)
		schema, err := packSchema(ctx, tx, supplier, change)
		if err != nil {
			return "", err
		}
		if _, err := o.apply(&supplier, change, schema); err != nil {
			return "", err
		}
		if err := tx.LockSuppliers(ctx); err != nil {
			return "", err
		}
		if err := checkRootFree(ctx, tx, supplier); err != nil {
			return "", err
		}
		if err := o.checkMailSender(ctx, tx, false, supplier); err != nil {
			return "", err
		}
		if err := o.checkTarget(ctx, tx, change); err != nil {
			return "", err
		}
		err = tx.CreateSupplier(ctx, supplier)
		return strings.Join(settings(supplier), ", "), replaceError(err, landfall.ErrExists,
			nameTaken("There is already an import supplier %q. Change it with: supplier set %s", code, code))
	})
	return supplier, err
}

// PreviewSupplier returns a supplier with the defaults and the given settings,
// checked as for creation. It is for work without a database.
func (o *Operator) PreviewSupplier(change SupplierChange, schema *contract.Schema) (landfall.Supplier, error) {
	supplier := landfall.NewSupplier("IMAGINED")
	_, err := o.apply(&supplier, change, schema)
	return supplier, err
}

// SetSupplier changes settings of a supplier and returns the result. A change of
// status is published as an event.
func (o *Operator) SetSupplier(ctx context.Context, code string, change SupplierChange) (landfall.Supplier, error) {
	var supplier landfall.Supplier
	err := o.change(ctx, "supplier.set", code, func(tx landfall.Tx) (string, error) {
		// Lock all suppliers before the one. Two transactions that each lock one
		// and then want all would deadlock.
		if change.DocumentRoot != nil {
			if err := tx.LockSuppliers(ctx); err != nil {
				return "", err
			}
		}
		var err error
		supplier, err = tx.Supplier(ctx, code)
		if err != nil {
			return "", supplierError(ctx, tx, code, err)
		}
		before, mailed := supplier.Status, supplier.SendCustomerEmails
		if err := checkMoney(ctx, tx, supplier, change); err != nil {
			return "", err
		}
		schema, err := packSchema(ctx, tx, supplier, change)
		if err != nil {
			return "", err
		}
		changed, err := o.apply(&supplier, change, schema)
		if err != nil {
			return "", err
		}
		if err := o.checkMailSender(ctx, tx, mailed, supplier); err != nil {
			return "", err
		}
		if change.DocumentRoot != nil {
			if err := checkRootFree(ctx, tx, supplier); err != nil {
				return "", err
			}
		}
		if err := o.checkTarget(ctx, tx, change); err != nil {
			return "", err
		}
		if err := tx.SaveSupplier(ctx, supplier); err != nil {
			return "", err
		}
		// Write the event in the same transaction, so that there is exactly one
		// for each stored change of status.
		if before != supplier.Status {
			err = tx.AppendEvent(ctx, landfall.Event{
				Type: landfall.EventSupplierStatusChanged, Key: landfall.Key{Supplier: code},
				Details: map[string]string{"from": string(before), "to": string(supplier.Status)},
			})
		}
		return strings.Join(changed, ", "), err
	})
	if err != nil {
		return landfall.Supplier{}, err
	}
	return supplier, nil
}

// checkMoney refuses to change what the amounts of existing accounts mean. Staged documents are
// checked again when their accounts are created, but were counted in the currency.
func checkMoney(ctx context.Context, tx landfall.Tx, supplier landfall.Supplier, change SupplierChange) error {
	currency := change.Currency != nil && *change.Currency != supplier.Currency
	unit := change.StatementAmounts != nil && *change.StatementAmounts != supplier.StatementAmounts
	if !currency && !unit {
		return nil
	}
	found, err := tx.Tallies(ctx, supplier.Code)
	if err != nil {
		return err
	}
	created := found.Accounts(landfall.StatusCreated)
	staged := found.Accounts(landfall.StatusPending, landfall.StatusFailed, landfall.StatusSkipped)
	switch {
	case unit && created > 0:
		return invalid("statement_amounts", rules.CodeInvalidChoice, "The unit of the amounts of statements cannot change: import supplier %s has %d created accounts. "+
			"Create another import supplier for accounts with another unit.", supplier.Code, created)
	case currency && created+staged > 0:
		return invalid("currency", rules.CodeInvalidChoice, "The currency cannot change: import supplier %s has %d staged and %d created accounts. "+
			"Create another import supplier for accounts in another currency.", supplier.Code, staged, created)
	}
	return nil
}

// ShowSupplier returns a supplier and the organisations that may use it.
func (o *Operator) ShowSupplier(ctx context.Context, code string) (SupplierFacts, error) {
	var facts SupplierFacts
	err := o.view(ctx, "supplier.show", func(view landfall.View) error {
		var err error
		if facts.Supplier, err = view.Supplier(ctx, code); err != nil {
			return supplierError(ctx, view, code, err)
		}
		facts.Grantees, err = view.Grantees(ctx, code)
		return err
	})
	return facts, err
}

// Suppliers returns all suppliers, by code.
func (o *Operator) Suppliers(ctx context.Context) ([]landfall.Supplier, error) {
	var suppliers []landfall.Supplier
	err := o.view(ctx, "supplier.list", func(view landfall.View) error {
		var err error
		suppliers, err = view.Suppliers(ctx)
		return err
	})
	return suppliers, err
}

// Grant allows an organisation to use a supplier; granting again changes
// nothing.
func (o *Operator) Grant(ctx context.Context, code, organisation string) error {
	return o.change(ctx, "supplier.grant", code, func(tx landfall.Tx) (string, error) {
		if err := checkBothExist(ctx, tx, code, organisation); err != nil {
			return "", err
		}
		return "to " + organisation, tx.Grant(ctx, code, organisation)
	})
}

// Revoke removes a grant.
func (o *Operator) Revoke(ctx context.Context, code, organisation string) error {
	return o.change(ctx, "supplier.revoke", code, func(tx landfall.Tx) (string, error) {
		if err := checkBothExist(ctx, tx, code, organisation); err != nil {
			return "", err
		}
		err := tx.Ungrant(ctx, code, organisation)
		return "from " + organisation, replaceError(err, landfall.ErrNotFound, notFound(landfall.CodeNotFound,
			"Organisation %q has no grant for import supplier %q, so there is nothing to revoke.", organisation, code))
	})
}

// checkBothExist checks both sides of a grant, so that the refusal names the one that
// is missing.
func checkBothExist(ctx context.Context, view landfall.View, code, organisation string) error {
	if _, err := view.Supplier(ctx, code); err != nil {
		return supplierError(ctx, view, code, err)
	}
	_, err := view.Organisation(ctx, organisation)
	return organisationError(ctx, view, organisation, err)
}

// settings describes a supplier for the audit, setting by setting.
func settings(s landfall.Supplier) []string {
	parts := []string{
		fmt.Sprintf("name=%q", s.Name), "status=" + string(s.Status), fmt.Sprintf("document_root=%q", s.DocumentRoot),
		"currency=" + s.Currency, "region=" + s.Region, "time_zone=" + s.TimeZone,
		fmt.Sprintf("concurrency_limit=%d", s.ConcurrencyLimit),
		"undo_window=" + s.UndoWindow.String(),
		fmt.Sprintf("verify_documents=%t", s.VerifyDocuments),
		fmt.Sprintf("send_customer_emails=%t", s.SendCustomerEmails),
	}
	if s.StatementAmounts != landfall.MajorUnits {
		parts = append(parts, "statement_amounts="+string(s.StatementAmounts))
	}
	if s.Target != "" {
		parts = append(parts, "target="+s.Target)
	}
	if s.MailDelay > 0 {
		parts = append(parts, "mail_delay="+s.MailDelay.String())
	}
	if len(s.Packs) > 0 {
		parts = append(parts, "packs="+strings.Join(s.Packs, " "))
	}
	// No entry means kept for ever, the default.
	for _, kept := range retentionSettings(s.Retention) {
		if kept.length > 0 {
			parts = append(parts, kept.setting+"="+kept.length.String())
		}
	}
	for _, code := range slices.Sorted(maps.Keys(s.Severities)) {
		parts = append(parts, fmt.Sprintf("rule %s=%s", code, s.Severities[code]))
	}
	return parts
}
