package console

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// visit is one request and whoever makes it.
type visit struct {
	*http.Request
	Writer  http.ResponseWriter
	console *Console
	page    page
	me      landfall.Operator
	session landfall.Session
	form    url.Values // what was typed; nil unless something was
	refusal *landfall.Error
}

// ctx is the context of the request.
func (v *visit) ctx() context.Context { return v.Context() }

// operator gives the operator's verbs in the name of who is signed in.
func (v *visit) operator() *operate.Operator {
	return v.console.As(v.actor()).From(v.console.ClientAddress(v.Request).String())
}

// actor is who the audit names.
func (v *visit) actor() string { return "operator:" + v.me.Name }

// value gives a part of the path.
func (v *visit) value(name string) string { return v.PathValue(name) }

// typed gives what was typed into a field, without blanks around it.
func (v *visit) typed(name string) string { return strings.TrimSpace(v.form.Get(name)) }

// query gives a parameter of the address.
func (v *visit) query(name string) string { return strings.TrimSpace(v.URL.Query().Get(name)) }

// longestForm bounds what is read of a form. Nobody types more.
const longestForm = 64 << 10

// errNotSignedIn sends a visitor to the door.
var errNotSignedIn = errors.New("not signed in")

// admit finds out who is visiting and whether he may, and reads what he typed.
func (v *visit) admit() error {
	if cookie, err := v.Cookie(v.sessionCookie()); err == nil {
		operator, session, err := v.console.Reception.Whoever(v.ctx(), cookie.Value)
		known, _ := errors.AsType[*landfall.Error](err)
		switch {
		case err == nil:
			v.me, v.session = operator, session
		// A session that is over is the same as none. Anything else is trouble of ours, and to
		// send somebody to the door for it would make him type his password in vain.
		case known == nil || known.Kind != landfall.Unauthenticated:
			return err
		}
	}
	switch {
	case v.page.open:
	case v.me.Name == "":
		return errNotSignedIn
	case !may(v.me.Role, v.page.role):
		return &landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
			Detail: "Your role is " + string(v.me.Role) + ": it reads. Ask an operator to do this."}
	}
	if v.Method != http.MethodPost {
		return nil
	}
	// Who may not act has been refused by now: nothing of his form is read.
	v.Body = http.MaxBytesReader(v.Writer, v.Body, longestForm)
	if err := v.ParseForm(); err != nil {
		return landfall.Refuse(landfall.CodeValidationFailed, "The form could not be read. Go back, and send it again.")
	}
	// PostForm and not Form: a parameter in the address must never count as typed.
	v.form = v.PostForm
	return nil
}

// answer has the verb do its work and shows what came of it. A refusal of an
// act is shown where the act was, with everything that was typed.
func (v *visit) answer() {
	found, err := v.page.verb(v)
	if err != nil {
		refusal, known := errors.AsType[*landfall.Error](err)
		// Trouble of our own gets a page of its own: to type something else would not mend it.
		if v.page.again == nil || !known || refusal.Kind == landfall.Internal {
			v.fail(err)
			return
		}
		v.refusal = refusal
		if found, err = v.page.again(v); err != nil {
			v.fail(err)
			return
		}
		v.show(status(refusal), v.page.lookAgain, found)
		return
	}
	switch found := found.(type) {
	case nil: // the verb has answered itself
	case done:
		v.flash(found.say)
		// See Other, so that reloading the page which follows does not send the act again.
		http.Redirect(v.Writer, v.Request, found.to, http.StatusSeeOther)
	default:
		v.show(http.StatusOK, v.page.view, found)
	}
}

// show renders a view, in the layout unless htmx asked for it alone.
func (v *visit) show(status int, view string, found any) {
	sheet := v.sheet(found)
	// Rendered into memory, because the status goes out with the first byte and a view may still
	// fail.
	var body bytes.Buffer
	if err := v.console.render(&body, v.zone(), view, sheet, v.page.bare); err != nil {
		v.console.Logger.ErrorContext(v.ctx(), "a page of the console could not be rendered", "view", view, "error", err)
		v.plain(http.StatusInternalServerError, "This page could not be shown. The log says why.")
		return
	}
	header := v.Writer.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	v.Writer.WriteHeader(status)
	_, _ = v.Writer.Write(body.Bytes()) // who has left needs no page
}

// plain answers without a template, for when even that fails.
func (v *visit) plain(status int, text string) { http.Error(v.Writer, text, status) }
