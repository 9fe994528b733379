package console

import (
	"landfall"
)

// operatorsPage lists who may sign in, and who has.
type operatorsPage struct {
	pageHead
	Operators []landfall.Operator
	Sessions  []landfall.Session
	Link      string // a new one, this once
	LinkFor   string
}

func listOperators(r *pageRequest) (any, error) { return r.operatorsPage() }

func (r *pageRequest) operatorsPage() (operatorsPage, error) {
	page := operatorsPage{pageHead: adminHead("Operators", "operators")}
	var err error
	if page.Operators, err = r.operator().Operators(r.Context()); err != nil {
		return page, err
	}
	// Sessions idle for longer than the reception allows are over even though their rows are
	// still there.
	page.Sessions, err = r.operator().Sessions(r.Context(), r.console.Sessions.Idle())
	return page, err
}

// showInvitation shows a link on the page that answers: there is no other time.
func (r *pageRequest) showInvitation(name, secret string) (any, error) {
	page, err := r.operatorsPage()
	scheme := "http://"
	if r.console.encrypted(r.Request) {
		scheme = "https://"
	}
	page.Link, page.LinkFor = scheme+r.Host+consolePath("welcome", secret), name
	// What the settings say goes before what the browser asked for: the link is sent to somebody
	// else, who must reach it too.
	if r.console.BaseURL != "" {
		page.Link = r.console.BaseURL + consolePath("welcome", secret)
	}
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

// resetOperator hands out a link again rather than a password: nobody but its owner ever knows
// one.
func resetOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	secret, err := r.operator().ResetOperator(r.Context(), name)
	if err != nil {
		return nil, err
	}
	return r.showInvitation(name, secret.Reveal())
}

// disableOperator shuts somebody out; oneself last, or nobody could undo it.
func disableOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	if name == r.me.Name {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "You cannot shut yourself out. Another operator can, or: landfall operator disable "+name)
	}
	return redirect{to: consolePath("admin", "operators"), message: name + " is shut out, and every session has ended."}, r.operator().DisableOperator(r.Context(), name)
}

func enableOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	return redirect{to: consolePath("admin", "operators"), message: name + " may sign in again."}, r.operator().EnableOperator(r.Context(), name)
}

func endSession(r *pageRequest) (any, error) {
	return redirect{to: consolePath("admin", "operators"), message: "The session has ended."}, r.operator().EndSession(r.Context(), r.PathValue("session"))
}

func operatorRoutes() []route {
	all := get("admin/operators/", listOperators, "operators")
	return []route{
		all, post("admin/operators/", createOperator, all), post("admin/operators/{name}/reset/", resetOperator, all),
		post("admin/operators/{name}/disable/", disableOperator, all), post("admin/operators/{name}/enable/", enableOperator, all),
		post("admin/sessions/{session}/end/", endSession, all),
	}
}
