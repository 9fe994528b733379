package console

import (
	"slices"

	"landfall"
	"landfall/internal/service/operate"
)

// adminHead is the head of every page of the administration.
func adminHead(title, here string) head {
	made := head{Title: title}
	for _, one := range []struct{ name, part string }{
		{"Health", ""}, {"Organisations", "organisations"}, {"Teams", "teams"}, {"Vendors", "vendors"}, {"Webhooks", "webhooks"},
		{"Operators", "operators"}, {"Audit", "audit"},
	} {
		// The first tab is the administration itself, whose part is empty: address would end it
		// with two slashes.
		path := address("admin")
		if one.part != "" {
			path = address("admin", one.part)
		}
		made.Tabs = append(made.Tabs, tab{one.name, path, one.part == here})
	}
	return made
}

// within adds the page above to a head of the administration.
func (h head) within(name, path string) head {
	h.Trail = append(h.Trail, crumb{"Administration", address("admin")}, crumb{name, path})
	return h
}

// Sign is one thing that tells how the service does.
type Sign struct {
	Group, Name string
	Value       string
	State       string // a word with a colour; "" when it is only a figure
	Means       string // what it means, and what to do about it
}

// healthy is the page of the service's own health.
type healthy struct {
	head
	Groups []group
}

type group struct {
	Name  string
	Signs []Sign
}

func health(v *visit) (any, error) {
	page := healthy{head: adminHead("Health", "")}
	if v.console.Health == nil {
		return page, nil
	}
	for _, sign := range v.console.Health(v.ctx()) {
		// Signs come in the order in which they are to be read; a group stands where its first
		// sign does, and a map would lose that order.
		at := slices.IndexFunc(page.Groups, func(g group) bool { return g.Name == sign.Group })
		if at < 0 {
			page.Groups = append(page.Groups, group{Name: sign.Group})
			at = len(page.Groups) - 1
		}
		page.Groups[at].Signs = append(page.Groups[at].Signs, sign)
	}
	return page, nil
}

// organisationsShown lists who sends accounts.
type organisationsShown struct {
	head
	Organisations []landfall.Organisation
}

func listOrganisations(v *visit) (any, error) {
	found, err := v.operator().Organisations(v.ctx())
	return organisationsShown{head: adminHead("Organisations", "organisations"), Organisations: found}, err
}

// createOrganisation says what is still missing, because an organisation alone can do nothing:
// without a key nobody calls, and without a supplier there is nothing to send.
func createOrganisation(v *visit) (any, error) {
	name := v.typed("name")
	err := v.operator().CreateOrganisation(v.ctx(), name)
	return done{to: address("admin", "organisations", name), say: "The organisation is made. It needs a key and a supplier."}, err
}

// organisationShown is one of them with its keys and suppliers.
type organisationShown struct {
	head
	operate.OrganisationFacts
	Keys    []keyShown
	Others  []landfall.Supplier // it may not use
	Key     string              // a new one, this once
	KeyName string
}

// keyShown is a key with how it stands.
type keyShown struct {
	landfall.APIKey
	State string
}

func showOrganisation(v *visit) (any, error) { return v.organisation() }

// organisation gives the page to those who read it and to createKey, which has to put the new key
// on it.
func (v *visit) organisation() (organisationShown, error) {
	name, operator := v.value("organisation"), v.operator()
	page := organisationShown{head: adminHead(name, "organisations").within("Organisations", address("admin", "organisations"))}
	var err error
	if page.OrganisationFacts, err = operator.ShowOrganisation(v.ctx(), name); err != nil {
		return page, err
	}
	keys, err := operator.Keys(v.ctx(), name)
	if err != nil {
		return page, err
	}
	// The newest first: whoever has just made a key looks for that one.
	for _, key := range slices.Backward(keys) {
		shown := keyShown{key, "good"}
		// Revoked goes before expired: somebody's decision tells more than time that passed.
		switch {
		case !key.RevokedAt.IsZero():
			shown.State = "revoked"
		case !key.ExpiresAt.IsZero() && !v.console.Clock().Before(key.ExpiresAt):
			shown.State = "expired"
		}
		page.Keys = append(page.Keys, shown)
	}
	suppliers, err := operator.Suppliers(v.ctx())
	for _, supplier := range suppliers {
		if !slices.Contains(page.Suppliers, supplier.Code) {
			page.Others = append(page.Others, supplier)
		}
	}
	return page, err
}

// createKey shows the new key on the page that answers: there is no other time.
func createKey(v *visit) (any, error) {
	life, err := v.span("expires")
	if err != nil {
		return nil, err
	}
	key, secret, err := v.operator().CreateKey(v.ctx(), operate.KeyRequest{
		Organisation: v.value("organisation"), Role: landfall.Role(v.typed("role")), Life: life,
	})
	if err != nil {
		return nil, err
	}
	// The key is good whatever becomes of the page. The page is read anew so that the list has it
	// too.
	page, err := v.organisation()
	page.Key, page.KeyName = secret.Reveal(), key.ID
	return page, err
}

func revokeKey(v *visit) (any, error) {
	// The key's own name is typed here and not the organisation's: one of several is meant, and
	// the wrong one would cut off somebody else.
	if err := v.confirmed(v.typed("key")); err != nil {
		return nil, err
	}
	err := v.operator().RevokeKey(v.ctx(), v.typed("key"))
	return done{to: v.above(), say: "Key " + v.typed("key") + " is revoked, with every token that came from it."}, err
}

// above is the page of the organisation an act is about.
func (v *visit) above() string { return address("admin", "organisations", v.value("organisation")) }

func grantSupplier(v *visit) (any, error) {
	err := v.operator().Grant(v.ctx(), v.typed("supplier"), v.value("organisation"))
	return done{to: v.above(), say: v.typed("supplier") + " is granted."}, err
}

// ungrantSupplier asks for no confirmation: granting again restores everything.
func ungrantSupplier(v *visit) (any, error) {
	err := v.operator().Revoke(v.ctx(), v.typed("supplier"), v.value("organisation"))
	return done{to: v.above(), say: v.typed("supplier") + " is granted no more."}, err
}

func disableOrganisation(v *visit) (any, error) {
	if err := v.confirmed(v.value("organisation")); err != nil {
		return nil, err
	}
	err := v.operator().DisableOrganisation(v.ctx(), v.value("organisation"))
	return done{to: v.above(), say: "The organisation is shut out."}, err
}

func enableOrganisation(v *visit) (any, error) {
	err := v.operator().EnableOrganisation(v.ctx(), v.value("organisation"))
	return done{to: v.above(), say: "The organisation is let in again."}, err
}

// setQuotas changes what an organisation may take of the service.
func setQuotas(v *visit) (any, error) {
	change := operate.QuotaChange{}
	for name, into := range map[string]**int64{
		landfall.QuotaRequests: &change.RequestsPerSecond, landfall.QuotaBytes: &change.BytesPerDay, landfall.QuotaRevisions: &change.RevisionsPerAccount,
		landfall.QuotaTokens: &change.TokensPerMinute, landfall.QuotaCreations: &change.ConcurrentCreations,
	} {
		// A field left empty is 0, and all five are always sent: the form shows every limit, so
		// that what it shows is what is kept.
		number := 0
		if err := v.number(name, &number); err != nil {
			return nil, err
		}
		given := int64(number)
		*into = &given
	}
	_, err := v.operator().SetQuotas(v.ctx(), v.value("organisation"), change)
	return done{to: v.above(), say: "The limits are kept."}, err
}

// teamsShown lists the operations teams.
type teamsShown struct {
	head
	Teams []landfall.Team
}

func listTeams(v *visit) (any, error) {
	found, err := v.operator().Teams(v.ctx())
	return teamsShown{adminHead("Teams", "teams"), found}, err
}

func createTeam(v *visit) (any, error) {
	err := v.operator().CreateTeam(v.ctx(), v.typed("name"))
	return done{to: address("admin", "teams"), say: "Team " + v.typed("name") + " is made."}, err
}

// adminPages reads for support as well: only the acts below are for operators.
func adminPages() []page {
	organisations, one := reads("admin/organisations/", listOrganisations, "organisations"), reads("admin/organisations/{organisation}/", showOrganisation, "organisation")
	teams := reads("admin/teams/", listTeams, "teams")
	of := func(act string, verb func(*visit) (any, error)) page {
		return acts("admin/organisations/{organisation}/"+act+"/", verb, one)
	}
	// The audit's file is a row by hand: it has no view, and may take longer than a page does.
	return slices.Concat([]page{
		reads("admin/", health, "health"), organisations, acts("admin/organisations/", createOrganisation, organisations), one,
		of("keys", createKey), of("revoke", revokeKey), of("grant", grantSupplier), of("ungrant", ungrantSupplier),
		of("disable", disableOrganisation), of("enable", enableOrganisation), of("quotas", setQuotas),
		teams, acts("admin/teams/", createTeam, teams),
		reads("admin/audit/", audit, "audit"), live("admin/audit/live", auditNews, "list-news"), {path: "admin/audit.csv", role: landfall.ConsoleSupport, verb: auditFile, endless: true},
	}, vendorPages(), webhookPages(), operatorPages())
}
