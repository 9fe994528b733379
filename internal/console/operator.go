package console

import (
	"landfall"
)

// operatorsShown lists who may sign in, and who has.
type operatorsShown struct {
	head
	Operators []landfall.Operator
	Sessions  []landfall.Session
	Link      string // a new one, this once
	LinkOf    string
}

func listOperators(v *visit) (any, error) { return v.operators() }

func (v *visit) operators() (operatorsShown, error) {
	page := operatorsShown{head: adminHead("Operators", "operators")}
	var err error
	if page.Operators, err = v.operator().Operators(v.ctx()); err != nil {
		return page, err
	}
	// Sessions idle for longer than the reception allows are over even though their rows are
	// still there.
	page.Sessions, err = v.operator().Sessions(v.ctx(), v.console.Reception.Idle())
	return page, err
}

// invite shows a link on the page that answers: there is no other time.
func (v *visit) invite(name, secret string) (any, error) {
	page, err := v.operators()
	scheme := "http://"
	if v.console.encrypted(v.Request) {
		scheme = "https://"
	}
	page.Link, page.LinkOf = scheme+v.Host+address("welcome", secret), name
	// What the settings say goes before what the browser asked for: the link is sent to somebody
	// else, who must reach it too.
	if v.console.BaseURL != "" {
		page.Link = v.console.BaseURL + address("welcome", secret)
	}
	return page, err
}

func createOperator(v *visit) (any, error) {
	name := v.typed("name")
	secret, err := v.operator().CreateOperator(v.ctx(), name, landfall.OperatorRole(v.typed("role")))
	if err != nil {
		return nil, err
	}
	return v.invite(name, secret.Reveal())
}

// resetOperator hands out a link again rather than a password: nobody but its owner ever knows
// one.
func resetOperator(v *visit) (any, error) {
	name := v.value("name")
	secret, err := v.operator().ResetOperator(v.ctx(), name)
	if err != nil {
		return nil, err
	}
	return v.invite(name, secret.Reveal())
}

// disableOperator shuts somebody out; oneself last, or nobody could undo it.
func disableOperator(v *visit) (any, error) {
	name := v.value("name")
	if name == v.me.Name {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "You cannot shut yourself out. Another operator can, or: landfall operator disable "+name)
	}
	return done{to: address("admin", "operators"), say: name + " is shut out, and every session has ended."}, v.operator().DisableOperator(v.ctx(), name)
}

func enableOperator(v *visit) (any, error) {
	name := v.value("name")
	return done{to: address("admin", "operators"), say: name + " may sign in again."}, v.operator().EnableOperator(v.ctx(), name)
}

func endSession(v *visit) (any, error) {
	return done{to: address("admin", "operators"), say: "The session has ended."}, v.operator().EndSession(v.ctx(), v.value("session"))
}

func operatorPages() []page {
	all := reads("admin/operators/", listOperators, "operators")
	return []page{
		all, acts("admin/operators/", createOperator, all), acts("admin/operators/{name}/reset/", resetOperator, all),
		acts("admin/operators/{name}/disable/", disableOperator, all), acts("admin/operators/{name}/enable/", enableOperator, all),
		acts("admin/sessions/{session}/end/", endSession, all),
	}
}
