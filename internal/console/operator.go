package console

import (
	"landfall"
	"landfall/internal/service/operate"
)

// operatorsPage lists operators and sessions.
type operatorsPage struct {
	pageHead
	Operators []landfall.Operator
	Sessions  []landfall.Session
	Link      string // of an invitation, shown once
	LinkFor   string
}

func listOperators(r *pageRequest) (any, error) { return r.operatorsPage() }

func (r *pageRequest) operatorsPage() (operatorsPage, error) {
	page := operatorsPage{pageHead: adminHead("Operators", "operators")}
	var err error
	if page.Operators, err = r.operator().Operators(r.Context()); err != nil {
		return page, err
	}
	page.Sessions, err = r.operator().Sessions(r.Context(), r.console.Sessions.Idle())
	return page, err
}

// showInvitation renders a link in its response, because it is shown only once.
func (r *pageRequest) showInvitation(name, secret string) (any, error) {
	page, err := r.operatorsPage()
	// Prefer the configured address: the link must work for somebody else.
	base := r.console.BaseURL
	if base == "" {
		base = "http://" + r.Host
		if r.console.encrypted(r.Request) {
			base = "https://" + r.Host
		}
	}
	page.Link, page.LinkFor = base+consolePath("welcome", secret), name
	return page, err
}

func createOperator(r *pageRequest) (any, error) {
	name := r.formValue("name")
	secret, err := r.operator().CreateOperator(r.Context(), name, landfall.OperatorRole(r.formValue("role")))
	if err != nil {
		return nil, err
	}
	return r.showInvitation(name, secret.Reveal())
}

// resetOperator creates a new link and no password, which only its owner may know.
func resetOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	secret, err := r.operator().ResetOperator(r.Context(), name)
	if err != nil {
		return nil, err
	}
	return r.showInvitation(name, secret.Reveal())
}

// disableOperator refuses to disable oneself: nobody might be left to undo it.
func disableOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	if name == r.me.Name {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "You cannot disable yourself. Ask another operator.")
	}
	return redirect{consolePath("admin", "operators"), name + " disabled. All their sessions have ended."}, r.operator().DisableOperator(r.Context(), name)
}

func enableOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	return redirect{consolePath("admin", "operators"), name + " enabled."}, r.operator().EnableOperator(r.Context(), name)
}

func operatorRoutes() []route {
	list := get("admin/operators/", listOperators, "operators")
	return []route{
		list, post("admin/operators/", createOperator, list), post("admin/operators/{name}/reset/", resetOperator, list),
		post("admin/operators/{name}/disable/", disableOperator, list), post("admin/operators/{name}/enable/", enableOperator, list),
		post("admin/sessions/{session}/end/", action(pathTo("admin", "operators"), "Session ended.", withName("session", (*operate.Operator).EndSession)), list),
	}
}
