package console

import (
	"slices"

	"landfall"
)

// adminHead is the head of every administration page. Current is the last part of
// the page's path.
func adminHead(title, current string) pageHead {
	return pageHead{Title: title}.withTabs(current, []string{"admin"}, [][2]string{
		{"Health", ""}, {"Organisations", "organisations"}, {"Teams", "teams"}, {"Vendors", "vendors"}, {"Webhooks", "webhooks"}, {"Targets", "targets"}, {"Mail", "mails"},
		{"Operators", "operators"}, {"Audit", "audit"},
	})
}

// withParent adds the breadcrumbs of a page below an administration list.
func (h pageHead) withParent(name, part string) pageHead {
	h.Breadcrumbs = append(h.Breadcrumbs, breadcrumb{"Administration", consolePath("admin")}, breadcrumb{name, consolePath("admin", part)})
	return h
}

// HealthItem is one figure or state of the service.
type HealthItem struct {
	Group, Name string
	Value       string
	State       string // a state with a colour; "" for a plain figure
	Help        string // what it means, and what to do about it
}

// healthPage shows the health of the service.
type healthPage struct {
	pageHead
	Groups   []healthGroup
	Replicas []landfall.Replica
}

// ManyVersions reports whether the replicas differ in their version.
func (p healthPage) ManyVersions() bool {
	return slices.ContainsFunc(p.Replicas, func(one landfall.Replica) bool { return one.Version != p.Replicas[0].Version })
}

type healthGroup struct {
	Name  string
	Items []HealthItem
}

func showHealth(r *pageRequest) (any, error) {
	if err := r.operator().Permit(landfall.MayInspect, ""); err != nil {
		return nil, err
	}
	page := healthPage{pageHead: adminHead("Health", "")}
	if r.console.Health == nil {
		return page, nil
	}
	// Without the database there is still the rest of the page, which says so.
	page.Replicas, _ = r.operator().Replicas(r.Context())
	// Groups keep the order of their first items.
	for _, item := range r.console.Health(r.Context()) {
		i := slices.IndexFunc(page.Groups, func(group healthGroup) bool { return group.Name == item.Group })
		if i < 0 {
			page.Groups = append(page.Groups, healthGroup{Name: item.Group})
			i = len(page.Groups) - 1
		}
		page.Groups[i].Items = append(page.Groups[i].Items, item)
	}
	return page, nil
}

// teamsPage lists the operations teams.
type teamsPage struct {
	pageHead
	Teams []landfall.Team
}

func listTeams(r *pageRequest) (any, error) {
	teams, err := r.operator().Teams(r.Context())
	return teamsPage{adminHead("Teams", "teams"), teams}, err
}

func createTeam(r *pageRequest) (any, error) {
	err := r.operator().CreateTeam(r.Context(), r.formValue("name"))
	return redirect{consolePath("admin", "teams"), "Team " + r.formValue("name") + " created."}, err
}

// without returns the suppliers that are not in a list of codes.
func without(suppliers []landfall.Supplier, codes []string) []landfall.Supplier {
	return slices.DeleteFunc(suppliers, func(one landfall.Supplier) bool { return slices.Contains(codes, one.Code) })
}

// adminRoutes are for people with a role everywhere; only administrators can act.
func adminRoutes() []route {
	teams := get("admin/teams/", listTeams, "teams")
	download := get("admin/audit.csv", downloadAudit, "")
	download.streaming = true
	return slices.Concat([]route{
		get("admin/", showHealth, "health"), teams, post("admin/teams/", createTeam, teams),
		get("admin/audit/", showAudit, "audit").requiring(landfall.MayAudit),
		liveRoute("admin/audit/live", showNewAuditEntries, "new-rows").requiring(landfall.MayAudit), download.requiring(landfall.MayAudit),
	}, organisationRoutes(), vendorRoutes(), webhookRoutes(), targetRoutes(), mailRoutes(), operatorRoutes(), newSupplierRoutes())
}
