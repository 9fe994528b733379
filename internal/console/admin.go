package console

import (
	"slices"

	"landfall"
	"landfall/internal/service/operate"
)

// adminHead is the head of every page of the administration.
func adminHead(title, here string) pageHead {
	made := pageHead{Title: title}
	for _, one := range []struct{ name, part string }{
		{"Health", ""}, {"Organisations", "organisations"}, {"Teams", "teams"}, {"Vendors", "vendors"}, {"Webhooks", "webhooks"},
		{"Operators", "operators"}, {"Audit", "audit"},
	} {
		// The first tab is the administration itself, whose part is empty: address would end it
		// with two slashes.
		path := consolePath("admin")
		if one.part != "" {
			path = consolePath("admin", one.part)
		}
		made.Tabs = append(made.Tabs, tab{one.name, path, one.part == here})
	}
	return made
}

// withParent adds the page above to a head of the administration.
func (h pageHead) withParent(name, path string) pageHead {
	h.Breadcrumbs = append(h.Breadcrumbs, breadcrumb{"Administration", consolePath("admin")}, breadcrumb{name, path})
	return h
}

// HealthItem is one thing that tells how the service does.
type HealthItem struct {
	Group, Name string
	Value       string
	State       string // a word with a colour; "" when it is only a figure
	Help        string // what it means, and what to do about it
}

// healthPage is the page of the service's own health.
type healthPage struct {
	pageHead
	Groups []healthGroup
}

type healthGroup struct {
	Name  string
	Items []HealthItem
}

func showHealth(r *pageRequest) (any, error) {
	page := healthPage{pageHead: adminHead("Health", "")}
	if r.console.Health == nil {
		return page, nil
	}
	for _, sign := range r.console.Health(r.Context()) {
		// Signs come in the order in which they are to be read; a group stands where its first
		// sign does, and a map would lose that order.
		at := slices.IndexFunc(page.Groups, func(g healthGroup) bool { return g.Name == sign.Group })
		if at < 0 {
			page.Groups = append(page.Groups, healthGroup{Name: sign.Group})
			at = len(page.Groups) - 1
		}
		page.Groups[at].Items = append(page.Groups[at].Items, sign)
	}
	return page, nil
}

// organisationsPage lists who sends accounts.
type organisationsPage struct {
	pageHead
	Organisations []landfall.Organisation
}

func listOrganisations(r *pageRequest) (any, error) {
	found, err := r.operator().Organisations(r.Context())
	return organisationsPage{pageHead: adminHead("Organisations", "organisations"), Organisations: found}, err
}

// createOrganisation says what is still missing, because an organisation alone can do nothing:
// without a key nobody calls, and without a supplier there is nothing to send.
func createOrganisation(r *pageRequest) (any, error) {
	name := r.formValue("name")
	err := r.operator().CreateOrganisation(r.Context(), name)
	return redirect{to: consolePath("admin", "organisations", name), message: "The organisation is made. It needs a key and a supplier."}, err
}

// organisationPage is one of them with its keys and suppliers.
type organisationPage struct {
	pageHead
	operate.OrganisationFacts
	Keys               []apiKeyRow
	GrantableSuppliers []landfall.Supplier // it may not use
	NewKey             string              // a new one, this once
	NewKeyID           string
}

// apiKeyRow is a key with how it stands.
type apiKeyRow struct {
	landfall.APIKey
	State string
}

func showOrganisation(r *pageRequest) (any, error) { return r.organisationPage() }

// organisationPage gives the page to those who read it and to createKey, which has to put the new key
// on it.
func (r *pageRequest) organisationPage() (organisationPage, error) {
	name, operator := r.PathValue("organisation"), r.operator()
	page := organisationPage{pageHead: adminHead(name, "organisations").withParent("Organisations", consolePath("admin", "organisations"))}
	var err error
	if page.OrganisationFacts, err = operator.ShowOrganisation(r.Context(), name); err != nil {
		return page, err
	}
	keys, err := operator.Keys(r.Context(), name)
	if err != nil {
		return page, err
	}
	// The newest first: whoever has just made a key looks for that one.
	for _, key := range slices.Backward(keys) {
		shown := apiKeyRow{key, "good"}
		// Revoked goes before expired: somebody's decision tells more than time that passed.
		switch {
		case !key.RevokedAt.IsZero():
			shown.State = "revoked"
		case !key.ExpiresAt.IsZero() && !r.console.Clock().Before(key.ExpiresAt):
			shown.State = "expired"
		}
		page.Keys = append(page.Keys, shown)
	}
	suppliers, err := operator.Suppliers(r.Context())
	for _, supplier := range suppliers {
		if !slices.Contains(page.Suppliers, supplier.Code) {
			page.GrantableSuppliers = append(page.GrantableSuppliers, supplier)
		}
	}
	return page, err
}

// createKey shows the new key on the page that answers: there is no other time.
func createKey(r *pageRequest) (any, error) {
	life, err := r.formDuration("expires")
	if err != nil {
		return nil, err
	}
	key, secret, err := r.operator().CreateKey(r.Context(), operate.KeyRequest{
		Organisation: r.PathValue("organisation"), Role: landfall.Role(r.formValue("role")), Life: life,
	})
	if err != nil {
		return nil, err
	}
	// The key is good whatever becomes of the page. The page is read anew so that the list has it
	// too.
	page, err := r.organisationPage()
	page.NewKey, page.NewKeyID = secret.Reveal(), key.ID
	return page, err
}

func revokeKey(r *pageRequest) (any, error) {
	// The key's own name is typed here and not the organisation's: one of several is meant, and
	// the wrong one would cut off somebody else.
	if err := r.requireConfirmation(r.formValue("key")); err != nil {
		return nil, err
	}
	err := r.operator().RevokeKey(r.Context(), r.formValue("key"))
	return redirect{to: r.organisationPath(), message: "Key " + r.formValue("key") + " is revoked, with every token that came from it."}, err
}

// organisationPath is the page of the organisation an act is about.
func (r *pageRequest) organisationPath() string {
	return consolePath("admin", "organisations", r.PathValue("organisation"))
}

func grantSupplier(r *pageRequest) (any, error) {
	err := r.operator().Grant(r.Context(), r.formValue("supplier"), r.PathValue("organisation"))
	return redirect{to: r.organisationPath(), message: r.formValue("supplier") + " is granted."}, err
}

// ungrantSupplier asks for no confirmation: granting again restores everything.
func ungrantSupplier(r *pageRequest) (any, error) {
	err := r.operator().Revoke(r.Context(), r.formValue("supplier"), r.PathValue("organisation"))
	return redirect{to: r.organisationPath(), message: r.formValue("supplier") + " is granted no more."}, err
}

func disableOrganisation(r *pageRequest) (any, error) {
	if err := r.requireConfirmation(r.PathValue("organisation")); err != nil {
		return nil, err
	}
	err := r.operator().DisableOrganisation(r.Context(), r.PathValue("organisation"))
	return redirect{to: r.organisationPath(), message: "The organisation is shut out."}, err
}

func enableOrganisation(r *pageRequest) (any, error) {
	err := r.operator().EnableOrganisation(r.Context(), r.PathValue("organisation"))
	return redirect{to: r.organisationPath(), message: "The organisation is let in again."}, err
}

// setQuotas changes what an organisation may take of the service.
func setQuotas(r *pageRequest) (any, error) {
	change := operate.QuotaChange{}
	for name, into := range map[string]**int64{
		landfall.QuotaRequests: &change.RequestsPerSecond, landfall.QuotaBytes: &change.BytesPerDay, landfall.QuotaRevisions: &change.RevisionsPerAccount,
		landfall.QuotaTokens: &change.TokensPerMinute, landfall.QuotaCreations: &change.ConcurrentCreations,
	} {
		// A field left empty is 0, and all five are always sent: the form shows every limit, so
		// that what it shows is what is kept.
		number := 0
		if err := r.formInt(name, &number); err != nil {
			return nil, err
		}
		given := int64(number)
		*into = &given
	}
	_, err := r.operator().SetQuotas(r.Context(), r.PathValue("organisation"), change)
	return redirect{to: r.organisationPath(), message: "The limits are kept."}, err
}

// teamsPage lists the operations teams.
type teamsPage struct {
	pageHead
	Teams []landfall.Team
}

func listTeams(r *pageRequest) (any, error) {
	found, err := r.operator().Teams(r.Context())
	return teamsPage{adminHead("Teams", "teams"), found}, err
}

func createTeam(r *pageRequest) (any, error) {
	err := r.operator().CreateTeam(r.Context(), r.formValue("name"))
	return redirect{to: consolePath("admin", "teams"), message: "Team " + r.formValue("name") + " is made."}, err
}

// adminRoutes reads for support as well: only the acts below are for operators.
func adminRoutes() []route {
	organisations, one := get("admin/organisations/", listOrganisations, "organisations"), get("admin/organisations/{organisation}/", showOrganisation, "organisation")
	teams := get("admin/teams/", listTeams, "teams")
	of := func(act string, verb func(*pageRequest) (any, error)) route {
		return post("admin/organisations/{organisation}/"+act+"/", verb, one)
	}
	// The audit's file is a row by hand: it has no view, and may take longer than a page does.
	return slices.Concat([]route{
		get("admin/", showHealth, "health"), organisations, post("admin/organisations/", createOrganisation, organisations), one,
		of("keys", createKey), of("revoke", revokeKey), of("grant", grantSupplier), of("ungrant", ungrantSupplier),
		of("disable", disableOrganisation), of("enable", enableOrganisation), of("quotas", setQuotas),
		teams, post("admin/teams/", createTeam, teams),
		get("admin/audit/", showAudit, "audit"), liveRoute("admin/audit/live", showNewAuditEntries, "list-news"), {path: "admin/audit.csv", role: landfall.ConsoleSupport, handle: downloadAudit, streaming: true},
	}, vendorRoutes(), webhookRoutes(), operatorRoutes())
}
