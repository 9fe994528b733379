package operate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// CreateOrganisation creates an organisation. It can use nothing until it has a
// key and is granted a supplier.
func (o *Operator) CreateOrganisation(ctx context.Context, name string) error {
	if err := checkLine("name", "The organisation's name", name, maxNameLength); err != nil {
		return err
	}
	return o.change(ctx, "organisation.create", name, func(tx landfall.Tx) (string, error) {
		return "", replaceError(tx.CreateOrganisation(ctx, name), landfall.ErrExists,
			nameTaken("There is already an organisation %q.", name))
	})
}

// Organisations returns all organisations, by name.
func (o *Operator) Organisations(ctx context.Context) ([]landfall.Organisation, error) {
	var organisations []landfall.Organisation
	err := o.view(ctx, "organisation.list", func(view landfall.View) error {
		var err error
		organisations, err = view.Organisations(ctx)
		return err
	})
	return organisations, err
}

// DisableOrganisation locks an organisation out: its keys and tokens are refused
// until it is enabled again.
func (o *Operator) DisableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.disable", name, true)
}

// EnableOrganisation lets a disabled organisation use the service again.
func (o *Operator) EnableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.enable", name, false)
}

// setDisabled sets the mark and writes its audit entry. It does not touch
// tokens: the organisation is checked whenever a token is used.
func (o *Operator) setDisabled(ctx context.Context, action, name string, disabled bool) error {
	return o.change(ctx, action, name, func(tx landfall.Tx) (string, error) {
		err := tx.SetOrganisationDisabled(ctx, name, disabled)
		return "", organisationError(ctx, tx, name, err)
	})
}

// QuotaChange is a change of an organisation's quotas. A nil field leaves the
// quota as it is; 0 removes it.
type QuotaChange struct {
	RequestsPerSecond, BytesPerDay, RevisionsPerAccount, TokensPerMinute, ConcurrentCreations *int64
}

// maxQuota bounds the quotas that are counted over seconds or minutes. A higher
// number would limit nothing and could overflow calculations.
const maxQuota = 1_000_000

// SetQuotas changes an organisation's quotas and returns the new ones.
func (o *Operator) SetQuotas(ctx context.Context, name string, change QuotaChange) (landfall.Quotas, error) {
	var quotas landfall.Quotas
	err := o.change(ctx, "organisation.set", name, func(tx landfall.Tx) (string, error) {
		organisation, err := tx.Organisation(ctx, name)
		if err != nil {
			return "", organisationError(ctx, tx, name, err)
		}
		quotas = organisation.Quotas
		var changed []string
		for _, one := range []struct {
			name    string
			place   *int64
			given   *int64
			highest int64
		}{
			{landfall.QuotaRequests, &quotas.RequestsPerSecond, change.RequestsPerSecond, maxQuota},
			{landfall.QuotaBytes, &quotas.BytesPerDay, change.BytesPerDay, math.MaxInt64},
			{landfall.QuotaRevisions, &quotas.RevisionsPerAccount, change.RevisionsPerAccount, maxQuota},
			{landfall.QuotaTokens, &quotas.TokensPerMinute, change.TokensPerMinute, maxQuota},
			{landfall.QuotaCreations, &quotas.ConcurrentCreations, change.ConcurrentCreations, maxQuota},
		} {
			if one.given == nil {
				continue
			}
			if *one.given < 0 || *one.given > one.highest {
				return "", invalid(one.name, rules.CodeOutOfRange, "The quota %s must be 0 (none) to %d.", one.name, one.highest)
			}
			if *one.place != *one.given {
				changed = append(changed, fmt.Sprintf("%s=%d (was %d)", one.name, *one.given, *one.place))
			}
			*one.place = *one.given
		}
		return strings.Join(changed, ", "), tx.SetQuotas(ctx, name, quotas)
	})
	if err != nil {
		return landfall.Quotas{}, err
	}
	return quotas, nil
}

// OrganisationFacts is everything an operator sees about an organisation.
type OrganisationFacts struct {
	landfall.Organisation
	BytesToday int64    // sent today in UTC, as far as servers have recorded it
	Suppliers  []string // codes of the suppliers it may use
}

// ShowOrganisation returns an organisation, its quotas and how much of them it
// used.
func (o *Operator) ShowOrganisation(ctx context.Context, name string) (OrganisationFacts, error) {
	var facts OrganisationFacts
	err := o.view(ctx, "organisation.show", func(view landfall.View) error {
		var err error
		if facts.Organisation, err = view.Organisation(ctx, name); err != nil {
			return organisationError(ctx, view, name, err)
		}
		if facts.BytesToday, err = view.BytesSent(ctx, name, o.clock().UTC().Format(time.DateOnly)); err != nil {
			return err
		}
		suppliers, err := view.Suppliers(ctx)
		if err != nil {
			return err
		}
		for _, supplier := range suppliers {
			grantees, err := view.Grantees(ctx, supplier.Code)
			if err != nil {
				return err
			}
			if slices.Contains(grantees, name) {
				facts.Suppliers = append(facts.Suppliers, supplier.Code)
			}
		}
		return nil
	})
	return facts, err
}
