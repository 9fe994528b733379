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

// CreateOrganisation makes an organisation. It may use nothing until it has a
// key and is granted a supplier.
func (o *Operator) CreateOrganisation(ctx context.Context, name string) error {
	if err := checkLine("name", "The organisation's name", name, longestName); err != nil {
		return err
	}
	return o.change(ctx, "organisation.create", name, func(tx landfall.Tx) (string, error) {
		return "", replaceError(tx.CreateOrganisation(ctx, name), landfall.ErrExists,
			nameTaken("There is already an organisation %q.", name))
	})
}

// Organisations gives all organisations, by name.
func (o *Operator) Organisations(ctx context.Context) ([]landfall.Organisation, error) {
	var organisations []landfall.Organisation
	err := o.view(ctx, "organisation.list", func(view landfall.View) error {
		var err error
		organisations, err = view.Organisations(ctx)
		return err
	})
	return organisations, err
}

// DisableOrganisation shuts an organisation out: its keys and tokens are
// refused until it is enabled again.
func (o *Operator) DisableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.disable", name, true)
}

// EnableOrganisation lets a disabled organisation in again.
func (o *Operator) EnableOrganisation(ctx context.Context, name string) error {
	return o.setDisabled(ctx, "organisation.enable", name, false)
}

// setDisabled writes the mark and its audit entry together. Tokens are not
// touched: each of them is asked for its organisation whenever it is used.
func (o *Operator) setDisabled(ctx context.Context, action, name string, disabled bool) error {
	return o.change(ctx, action, name, func(tx landfall.Tx) (string, error) {
		err := tx.SetOrganisationDisabled(ctx, name, disabled)
		return "", organisationError(ctx, tx, name, err)
	})
}

// QuotaChange is what an operator sets about an organisation's share of the
// service. A nil field leaves the quota as it is; 0 takes it away.
type QuotaChange struct {
	RequestsPerSecond, BytesPerDay, RevisionsPerAccount, TokensPerMinute, ConcurrentCreations *int64
}

// maxQuota bounds the numbers that are counted within seconds: a higher one
// would be no limit, but could not be computed with.
const maxQuota = 1_000_000

// SetQuotas changes an organisation's quotas and gives what they are now.
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
				changed = append(changed, fmt.Sprintf("%s=%d", one.name, *one.given))
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
	BytesToday int64    // sent today, by UTC, as far as servers have written it down
	Suppliers  []string // codes of the suppliers it may use
}

// ShowOrganisation gives an organisation, its quotas and what it used of them.
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
