package console

import (
	"slices"

	"landfall"
	"landfall/internal/service/operate"
)

// newSupplierPage is the short form for a new supplier. Everything else has a default
// and can be changed in its settings.
type newSupplierPage struct {
	pageHead
	Defaults      landfall.Supplier
	Organisations []landfall.Organisation
	Teams         []landfall.Team
	PackChoices   []operate.PackFacts
}

// HasPack reports that a new supplier uses no packs unless they are chosen.
func (newSupplierPage) HasPack(string) bool { return false }

func showNewSupplier(r *pageRequest) (any, error) {
	page := newSupplierPage{pageHead: pageHead{Title: "Add a supplier", Breadcrumbs: []breadcrumb{{"Suppliers", Root}}}, Defaults: landfall.NewSupplier("")}
	err := r.operator().Permit(landfall.MayAdminister, "")
	if err != nil {
		return nil, err
	}
	if page.Organisations, err = r.operator().Organisations(r.Context()); err != nil {
		return nil, err
	}
	if page.PackChoices, err = r.operator().Packs(r.Context()); err != nil {
		return nil, err
	}
	page.Teams, err = r.operator().Teams(r.Context())
	return page, err
}

// createSupplier creates a supplier with what it needs to be used. The organisation and
// the team are created first and only if they are new, so that a form that was refused
// can be sent again.
func createSupplier(r *pageRequest) (any, error) {
	operator, code := r.operator(), r.formValue("code")
	unit, packs := landfall.AmountUnit(r.formValue("statement_amounts")), r.form["packs"]
	name, currency, zone, region := r.formValue("name"), r.formValue("currency"), r.formValue("time_zone"), r.formValue("region")
	change := operate.SupplierChange{Currency: &currency, TimeZone: &zone, Region: &region, StatementAmounts: &unit, Packs: &packs}
	if name != "" {
		change.Name = &name
	}
	if packs == nil {
		change.Packs = nil
	}
	organisations, err := operator.Organisations(r.Context())
	if err != nil {
		return nil, err
	}
	organisation, team := r.formValue("organisation"), r.formValue("team")
	if organisation != "" && !slices.ContainsFunc(organisations, func(one landfall.Organisation) bool { return one.Name == organisation }) {
		if err := operator.CreateOrganisation(r.Context(), organisation); err != nil {
			return nil, err
		}
	}
	teams, err := operator.Teams(r.Context())
	if err != nil {
		return nil, err
	}
	if team != "" && !slices.ContainsFunc(teams, func(one landfall.Team) bool { return one.Name == team }) {
		if err := operator.CreateTeam(r.Context(), team); err != nil {
			return nil, err
		}
	}
	if _, err := operator.CreateSupplier(r.Context(), code, change); err != nil {
		return nil, err
	}
	if organisation != "" {
		if err := operator.Grant(r.Context(), code, organisation); err != nil {
			return nil, err
		}
	}
	return redirect{consolePath("suppliers", code), "Supplier " + code + " created."}, nil
}

// nextStep is something that a new supplier needs before its accounts can be imported.
type nextStep struct {
	Text, Path, Action string
	Done               bool
}

// nextSteps says what a supplier without accounts needs next, to people who can do it.
func (r *pageRequest) nextSteps(code string) (steps []nextStep, err error) {
	if !r.me.May(landfall.MayAdminister, "") {
		return nil, nil
	}
	operator := r.operator()
	facts, err := operator.ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	teams, err := operator.Teams(r.Context())
	if err != nil {
		return nil, err
	}
	history, err := operator.ControlTotalsHistory(r.Context(), code)
	if err != nil {
		return nil, err
	}
	hasKey, keys := false, consolePath("admin", "organisations")
	for _, organisation := range facts.Grantees {
		found, err := operator.Keys(r.Context(), organisation)
		if err != nil {
			return nil, err
		}
		keys = consolePath("admin", "organisations", organisation)
		hasKey = hasKey || slices.ContainsFunc(found, func(key landfall.APIKey) bool { return key.RevokedAt.IsZero() && key.Role == landfall.RoleImporter })
	}
	return []nextStep{
		{"An organisation that sends the accounts has access.", consolePath("admin", "organisations"), "Grant access", len(facts.Grantees) > 0},
		{"It has an API key of the role importer.", keys, "Create a key", hasKey},
		{"There is an operations team for the created accounts.", consolePath("admin", "teams"), "Create a team", len(teams) > 0},
		{"The settings and the severity of rules are as agreed.", consolePath("suppliers", code, "settings"), "Look at the settings", false},
		{"The old system’s control totals are known.", consolePath("suppliers", code, "reconciliation", "totals"), "Enter them", len(history) > 0},
		{"The first accounts are sent; this page then shows them.", "", "", false},
	}, nil
}

func newSupplierRoutes() []route {
	page := get("admin/suppliers/new/", showNewSupplier, "new-supplier").requiring(landfall.MayAdminister)
	return []route{page, post("admin/suppliers/new/", createSupplier, page)}
}
