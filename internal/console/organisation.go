package console

import (
	"slices"

	"landfall"
	"landfall/internal/service/operate"
)

// organisationsPage lists the organisations that send accounts.
type organisationsPage struct {
	pageHead
	Organisations []landfall.Organisation
}

func listOrganisations(r *pageRequest) (any, error) {
	organisations, err := r.operator().Organisations(r.Context())
	return organisationsPage{adminHead("Organisations", "organisations"), organisations}, err
}

func createOrganisation(r *pageRequest) (any, error) {
	name := r.formValue("name")
	err := r.operator().CreateOrganisation(r.Context(), name)
	return redirect{consolePath("admin", "organisations", name), "Organisation created. It needs an API key and a supplier."}, err
}

// organisationPage shows an organisation with its keys and suppliers.
type organisationPage struct {
	pageHead
	operate.OrganisationFacts
	Keys               []apiKeyRow
	GrantableSuppliers []landfall.Supplier
	NewKey             string // shown once
	NewKeyID           string
}

type apiKeyRow struct {
	landfall.APIKey
	State string
}

// quotaRow is one limit of an organisation.
type quotaRow struct {
	Name, Label string
	Value       int64
}

// QuotaRows lists the limits.
func (p organisationPage) QuotaRows() []quotaRow {
	return []quotaRow{
		{landfall.QuotaRequests, "Requests per second", p.Quotas.RequestsPerSecond}, {landfall.QuotaBytes, "Bytes per day", p.Quotas.BytesPerDay},
		{landfall.QuotaRevisions, "Revisions per account", p.Quotas.RevisionsPerAccount}, {landfall.QuotaTokens, "Tokens per minute", p.Quotas.TokensPerMinute},
		{landfall.QuotaCreations, "Concurrent account creations", p.Quotas.ConcurrentCreations},
	}
}

func showOrganisation(r *pageRequest) (any, error) { return r.organisationPage() }

func (r *pageRequest) organisationPage() (organisationPage, error) {
	name, operator := r.PathValue("organisation"), r.operator()
	page := organisationPage{pageHead: adminHead(name, "organisations").withParent("Organisations", "organisations")}
	var err error
	if page.OrganisationFacts, err = operator.ShowOrganisation(r.Context(), name); err != nil {
		return page, err
	}
	keys, err := operator.Keys(r.Context(), name)
	if err != nil {
		return page, err
	}
	for _, key := range slices.Backward(keys) { // the newest first
		row := apiKeyRow{key, "active"}
		switch {
		case !key.RevokedAt.IsZero():
			row.State = "revoked"
		case !key.ExpiresAt.IsZero() && !r.console.Clock().Before(key.ExpiresAt):
			row.State = "expired"
		}
		page.Keys = append(page.Keys, row)
	}
	suppliers, err := operator.Suppliers(r.Context())
	page.GrantableSuppliers = without(suppliers, page.Suppliers)
	return page, err
}

// createKey renders the new key in its response, because it is shown only once.
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
	page, err := r.organisationPage()
	page.NewKey, page.NewKeyID = secret.Reveal(), key.ID
	return page, err
}

// revokeKey needs the key's own name as confirmation, because there may be several.
func revokeKey(r *pageRequest) (any, error) {
	key := r.formValue("key")
	if err := r.requireConfirmation(key); err != nil {
		return nil, err
	}
	to := consolePath("admin", "organisations", r.PathValue("organisation"))
	return redirect{to, "Key " + key + " revoked, with all its tokens."}, r.operator().RevokeKey(r.Context(), key)
}

// setQuotas saves the limits. All five are always sent, and an empty field is 0.
func setQuotas(r *pageRequest) error {
	change := operate.QuotaChange{}
	for name, field := range map[string]**int64{
		landfall.QuotaRequests: &change.RequestsPerSecond, landfall.QuotaBytes: &change.BytesPerDay, landfall.QuotaRevisions: &change.RevisionsPerAccount,
		landfall.QuotaTokens: &change.TokensPerMinute, landfall.QuotaCreations: &change.ConcurrentCreations,
	} {
		number, err := r.formInt(name)
		if err != nil {
			return err
		}
		quota := int64(number)
		*field = &quota
	}
	_, err := r.operator().SetQuotas(r.Context(), r.PathValue("organisation"), change)
	return err
}

func organisationRoutes() []route {
	list, organisation := get("admin/organisations/", listOrganisations, "organisations"), get("admin/organisations/{organisation}/", showOrganisation, "organisation")
	to := pathTo("admin", "organisations", "{organisation}")
	change := func(name string, handle handlerFunc) route {
		return post("admin/organisations/{organisation}/"+name+"/", handle, organisation)
	}
	return []route{
		list, post("admin/organisations/", createOrganisation, list), organisation, change("keys", createKey), change("revoke", revokeKey),
		change("grant", action(to, "Access granted.", func(r *pageRequest) error {
			return r.operator().Grant(r.Context(), r.formValue("supplier"), r.PathValue("organisation"))
		})),
		change("ungrant", action(to, "Access removed.", func(r *pageRequest) error {
			return r.operator().Revoke(r.Context(), r.formValue("supplier"), r.PathValue("organisation"))
		})),
		change("disable", confirmedAction("organisation", to, "Organisation disabled.", withName("organisation", (*operate.Operator).DisableOrganisation))),
		change("enable", action(to, "Organisation enabled.", withName("organisation", (*operate.Operator).EnableOrganisation))),
		change("quotas", action(to, "Limits saved.", setQuotas)),
	}
}
