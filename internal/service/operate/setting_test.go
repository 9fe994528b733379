package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// A refused change leaves no trace: no setting, no audit entry, no event.
func TestSettingsRefused(t *testing.T) {
	type change = operate.SupplierChange
	cases := map[string]struct {
		change change
		attr   string
		part   string
	}{
		"blank name":        {change{Name: new("")}, "name", "blank"},
		"padded name":       {change{Name: new(" Acme")}, "name", "begin or end"},
		"invisible name":    {change{Name: new("Ac\u200bme")}, "name", "invisible"},
		"two lines":         {change{Name: new("Ac\nme")}, "name", "invisible"},
		"long name":         {change{Name: new(strings.Repeat("é", 129))}, "name", "129"},
		"broken name":       {change{Name: new("Ac\xffme")}, "name", "invisible"},
		"status":            {change{Status: new(landfall.SupplierStatus("ongoing"))}, "status", "Ongoing, Paused, Complete"},
		"currency":          {change{Currency: new("gbp")}, "currency", "ISO 4217"},
		"no such currency":  {change{Currency: new("XYZ")}, "currency", "ISO 4217"},
		"region":            {change{Region: new("UK")}, "region", "ISO 3166"},
		"empty region":      {change{Region: new("")}, "region", "ISO 3166"},
		"time zone":         {change{TimeZone: new("Europe/Londn")}, "time_zone", "IANA"},
		"empty time zone":   {change{TimeZone: new("")}, "time_zone", "IANA"},
		"local time zone":   {change{TimeZone: new("Local")}, "time_zone", "IANA"},
		"zone as a path":    {change{TimeZone: new("../../etc/passwd")}, "time_zone", "IANA"},
		"limit":             {change{ConcurrencyLimit: new(-1)}, "concurrency_limit", "-1"},
		"root with dots":    {change{DocumentRoot: new("a/../b")}, "document_root", "'..'"},
		"root with a gap":   {change{DocumentRoot: new("a//b")}, "document_root", "empty"},
		"root with scheme":  {change{DocumentRoot: new("s3://bucket/a")}, "document_root", "bucket"},
		"root with a drive": {change{DocumentRoot: new(`C:\a`)}, "document_root", "bucket"},
		"encoded root":      {change{DocumentRoot: new("a/%2e%2e/b")}, "document_root", "bucket"},
		"long root":         {change{DocumentRoot: new(strings.Repeat("a", 1025))}, "document_root", "1025"},
		"severity":          {change{Severities: map[string]landfall.Severity{"incorrect_tax_amount": "fatal"}}, "rule", "error, warning, off"},
		"rule mistyped":     {change{Severities: map[string]landfall.Severity{"incorrect_tax_amout": "off"}}, "rule", "Did you mean incorrect_tax_amount?"},
		"part of a rule":    {change{Severities: map[string]landfall.Severity{"line_item": "off"}}, "rule", "incorrect_line_item_net_amount"},
		"no such rule":      {change{Severities: map[string]landfall.Severity{"zzz": "off"}}, "rule", "List them with: rules"},
	}
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		made, err := d.CreateSupplier(ctx, "S", change{})
		must(t, err)
		for name, c := range cases {
			c.change.Status = orPaused(c.change.Status) // would append an event if it were accepted
			_, err := d.SetSupplier(ctx, "S", c.change)
			refusal(t, name, err, landfall.CodeValidationFailed, c.part)
			if known, ok := errors.AsType[*landfall.Error](err); !ok || len(known.Violations) != 1 || known.Violations[0].Attr != c.attr {
				t.Errorf("%s: %+v", name, err)
			}
			_, err = d.CreateSupplier(ctx, "NEW", c.change)
			refusal(t, name+" at creation", err, landfall.CodeValidationFailed, c.part)
		}
		facts, err := d.ShowSupplier(ctx, "S")
		must(t, err)
		made.CreatedAt = facts.CreatedAt
		same(t, "the supplier", facts.Supplier, made)
		if lines := d.audit(t, "S"); len(lines) != 1 {
			t.Errorf("audit is %q", lines)
		}
		if events := d.events(t, landfall.Key{Supplier: "S"}); len(events) > 0 {
			t.Errorf("events are %+v", events)
		}
		_, err = d.ShowSupplier(ctx, "NEW")
		refusal(t, "show", err, landfall.CodeSupplierUnknown, "supplier list")
		_, err = d.SetSupplier(ctx, "NEW", change{})
		refusal(t, "set", err, landfall.CodeSupplierUnknown, "supplier list")
	})
}

func orPaused(status *landfall.SupplierStatus) *landfall.SupplierStatus {
	if status != nil {
		return status
	}
	return new(landfall.Paused)
}

func TestSupplierCodes(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		for _, code := range []string{"", " A", "-A", "_A", ".A", "A B", "A/B", "Ä", "A\n", strings.Repeat("A", 33)} {
			_, err := d.CreateSupplier(t.Context(), code, operate.SupplierChange{})
			refusal(t, "code "+code, err, landfall.CodeValidationFailed, "A supplier code has 1 to 32")
			_, _, err = d.SetTarget(t.Context(), code, operate.TargetChange{})
			refusal(t, "code "+code, err, landfall.CodeValidationFailed, "A target code has 1 to 32")
		}
		for i, code := range []string{"A", "0", "a.b-c_d", strings.Repeat("A", 32), "a"} {
			must(t, second(d.CreateSupplier(t.Context(), code, operate.SupplierChange{
				DocumentRoot: new(fmt.Sprintf("/a/%d/", i)), TimeZone: new("UTC"), Currency: new("JPY"), Region: new("JP"),
			})))
		}
	})
}

func TestNames(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		for _, name := range []string{"", "  ", " a", "a\u00a0", "a\tb", "a\x00b", "a\x7f", "a\u202eb", "\xff", strings.Repeat("a", 129)} {
			refusal(t, "organisation", d.CreateOrganisation(t.Context(), name), landfall.CodeValidationFailed, "organisation's name")
			refusal(t, "team", d.CreateTeam(t.Context(), name), landfall.CodeValidationFailed, "team's name")
		}
		for _, name := range []string{"a", "Ünïcödé 团队", "O'Brien; DROP TABLE team", strings.Repeat("é", 128)} {
			must(t, d.CreateOrganisation(t.Context(), name), d.CreateTeam(t.Context(), name))
		}
	})
}

// away is a store whose database does not answer.
type away struct {
	landfall.Store
	err error
}

func (a away) View(context.Context, func(landfall.View) error) error { return a.err }

func (a away) Update(context.Context, func(landfall.Tx) error) error { return a.err }

func TestDatabaseUnavailable(t *testing.T) {
	for cause, part := range map[error]string{
		landfall.ErrUnavailable:    "Nothing was changed",
		landfall.ErrUnknownOutcome: "Check whether",
	} {
		operator := operate.New(away{err: cause}, operate.Options{Actor: actor, Clock: time.Now})
		refusal(t, "change", operator.CreateTeam(t.Context(), "Team"), landfall.CodeServiceUnavailable, part)
		_, err := operator.Teams(t.Context())
		refusal(t, "view", err, landfall.CodeServiceUnavailable, part)
	}
}
