package console

import (
	"context"
	"fmt"
	"strings"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/mail"
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
	page.Link, page.LinkFor = r.baseURL()+consolePath("welcome", secret), name
	return page, err
}

// baseURL is the public address of the service. The configured one is preferred,
// because it works for others too.
func (r *pageRequest) baseURL() string {
	switch {
	case r.console.BaseURL != "":
		return r.console.BaseURL
	case r.console.encrypted(r.Request):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func createOperator(r *pageRequest) (any, error) {
	name := r.formValue("name")
	secret, err := r.operator().CreateOperator(r.Context(), name, landfall.OperatorRole(r.formValue("role")))
	if err != nil {
		return nil, err
	}
	return r.showInvitation(name, secret.Reveal())
}

// rolesPage changes what an operator may do.
type rolesPage struct {
	pageHead
	landfall.Operator
	Suppliers []landfall.Supplier
}

func showRoles(r *pageRequest) (any, error) {
	page := rolesPage{pageHead: adminHead("Roles of "+r.PathValue("name"), "operators").withParent("Operators", "operators")}
	var err error
	if page.Operator, err = r.operator().ShowOperator(r.Context(), r.PathValue("name")); err != nil {
		return nil, err
	}
	page.Suppliers, err = r.operator().Suppliers(r.Context())
	return page, err
}

// RoleAtSupplier is the role that an operator has at a supplier and not everywhere.
func (p rolesPage) RoleAtSupplier(code string) string { return string(p.SupplierRoles[code]) }

func setRoles(r *pageRequest) error {
	roles := map[string]landfall.OperatorRole{"": landfall.OperatorRole(r.formValue("role"))}
	for name := range r.form {
		if supplier, is := strings.CutPrefix(name, "role."); is {
			roles[supplier] = landfall.OperatorRole(r.formValue(name))
		}
	}
	return r.operator().SetRoles(r.Context(), r.PathValue("name"), roles)
}

// resetPage asks for a confirmation before a sign-in is reset.
type resetPage struct {
	pageHead
	Name string
}

func showReset(r *pageRequest) (any, error) {
	head := adminHead("Reset sign-in", "operators")
	return resetPage{pageHead: head, Name: r.PathValue("name")}, nil
}

// resetOperator creates no link: whoever sees it could become the other operator. It
// wants the reader's own password, so that an unattended browser is not enough.
func resetOperator(r *pageRequest) (any, error) {
	name := r.PathValue("name")
	if name == r.me.Name {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "You cannot reset your own sign-in. Change your password or your authenticator under Profile.")
	}
	if err := r.requireConfirmation(name); err != nil {
		return nil, err
	}
	if _, err := r.console.Sessions.Prove(r.Context(), r.owner()); err != nil {
		return nil, err
	}
	if err := r.operator().ClearSignIn(r.Context(), name); err != nil {
		return nil, err
	}
	return redirect{
		consolePath("admin", "operators"),
		"Sign-in of " + name + " reset: password, passkeys and two-factor authentication are removed, and all sessions have ended. " +
			"Whoever runs the server can give " + name + " a new link. " + r.tellReset(name),
	}, nil
}

// tellReset tells a person that the sign-in was reset, by e-mail if the name is an
// address, and says what the person knows.
func (r *pageRequest) tellReset(name string) string {
	if _, err := mail.ParseAddress(name); err != nil || r.console.Tell == nil {
		return "They are told at the next sign-in."
	}
	ctx, cancel := context.WithTimeout(r.Context(), limits.TellOperator)
	defer cancel()
	if err := r.console.Tell(ctx, name, "Your sign-in to Landfall was reset", fmt.Sprintf(
		"Your sign-in to Landfall at %s was reset by %s.\n\nYour password, passkeys and two-factor authentication were removed, and your sessions have ended. "+
			"You can sign in again with a new link from whoever runs the server.\n\nIf you did not expect this, tell an administrator.\n", r.baseURL(), r.me.Name)); err != nil {
		r.console.Logger.WarnContext(r.Context(), "cannot tell an operator that the sign-in was reset", "error", err)
		return "The e-mail to them could not be sent; they are told at the next sign-in."
	}
	return "They were told by e-mail and are told at the next sign-in."
}

// disableOperator refuses to disable your own account: nobody might be left to undo it.
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
	list := get("admin/operators/", listOperators, "operators").requiring(landfall.MaySeePeople)
	reset := get("admin/operators/{name}/reset/", showReset, "operator-reset").requiring(landfall.MayAdminister)
	roles := get("admin/operators/{name}/roles/", showRoles, "operator-roles").requiring(landfall.MayAdminister)
	return []route{
		roles, post("admin/operators/{name}/roles/", action(pathTo("admin", "operators"), "Roles changed.", setRoles), roles),
		list, post("admin/operators/", createOperator, list), reset, post("admin/operators/{name}/reset/", resetOperator, reset),
		post("admin/operators/{name}/disable/", disableOperator, list), post("admin/operators/{name}/enable/", enableOperator, list),
		post("admin/sessions/{session}/end/", action(pathTo("admin", "operators"), "Session ended.", withName("session", (*operate.Operator).EndSession)), list),
	}
}
