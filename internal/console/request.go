package console

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// pageRequest is one request and whoever makes it.
type pageRequest struct {
	*http.Request
	Writer    http.ResponseWriter
	console   *Console
	route     route
	me        landfall.Operator
	session   landfall.Session
	form      url.Values // what was typed; nil unless something was
	formError *landfall.Error
}

// operator gives the operator's verbs in the name of who is signed in.
func (r *pageRequest) operator() *operate.Operator {
	return r.console.OperatorFor(r.actor()).From(r.console.ClientAddress(r.Request).String())
}

// actor is who the audit names.
func (r *pageRequest) actor() string { return "operator:" + r.me.Name }

// formValue gives what was typed into a field, without blanks around it.
func (r *pageRequest) formValue(name string) string { return strings.TrimSpace(r.form.Get(name)) }

// queryParam gives a parameter of the address.
func (r *pageRequest) queryParam(name string) string {
	return strings.TrimSpace(r.URL.Query().Get(name))
}

// maxFormBytes bounds what is read of a form. Nobody types more.
const maxFormBytes = 64 << 10

// errNotSignedIn sends a visitor to the door.
var errNotSignedIn = errors.New("not signed in")

// authenticate finds out who is visiting and whether he may, and reads what he typed.
func (r *pageRequest) authenticate() error {
	if cookie, err := r.Cookie(r.sessionCookie()); err == nil {
		operator, session, err := r.console.Sessions.Whoever(r.Context(), cookie.Value)
		known, _ := errors.AsType[*landfall.Error](err)
		switch {
		case err == nil:
			r.me, r.session = operator, session
		// A session that is over is the same as none. Anything else is trouble of ours, and to
		// send somebody to the door for it would make him type his password in vain.
		case known == nil || known.Kind != landfall.Unauthenticated:
			return err
		}
	}
	switch {
	case r.route.public:
	case r.me.Name == "":
		return errNotSignedIn
	case !allows(r.me.Role, r.route.role):
		return &landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
			Detail: "Your role is " + string(r.me.Role) + ": it reads. Ask an operator to do this."}
	}
	if r.Method != http.MethodPost {
		return nil
	}
	// Who may not act has been refused by now: nothing of his form is read.
	r.Body = http.MaxBytesReader(r.Writer, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return landfall.Refuse(landfall.CodeValidationFailed, "The form could not be read. Go back, and send it again.")
	}
	// PostForm and not Form: a parameter in the address must never count as typed.
	r.form = r.PostForm
	return nil
}

// respond has the verb do its work and shows what came of it. A refusal of an
// act is shown where the act was, with everything that was typed.
func (r *pageRequest) respond() {
	found, err := r.route.handle(r)
	if err != nil {
		refusal, known := errors.AsType[*landfall.Error](err)
		// Trouble of our own gets a page of its own: to type something else would not mend it.
		if r.route.formHandle == nil || !known || refusal.Kind == landfall.Internal {
			r.fail(err)
			return
		}
		r.formError = refusal
		if found, err = r.route.formHandle(r); err != nil {
			r.fail(err)
			return
		}
		r.renderPage(httpStatus(refusal), r.route.formView, found)
		return
	}
	switch found := found.(type) {
	case nil: // the verb has answered itself
	case redirect:
		r.flash(found.message)
		// See Other, so that reloading the page which follows does not send the act again.
		http.Redirect(r.Writer, r.Request, found.to, http.StatusSeeOther)
	default:
		r.renderPage(http.StatusOK, r.route.view, found)
	}
}

// renderPage renders a view, in the layout unless htmx asked for it alone.
func (r *pageRequest) renderPage(status int, view string, found any) {
	sheet := r.data(found)
	// Rendered into memory, because the status goes out with the first byte and a view may still
	// fail.
	var body bytes.Buffer
	if err := r.console.render(&body, r.zone(), view, sheet, r.route.partial); err != nil {
		r.console.Logger.ErrorContext(r.Context(), "a page of the console could not be rendered", "view", view, "error", err)
		r.plainText(http.StatusInternalServerError, "This page could not be shown. The log says why.")
		return
	}
	header := r.Writer.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	r.Writer.WriteHeader(status)
	_, _ = r.Writer.Write(body.Bytes()) // who has left needs no page
}

// plainText answers without a template, for when even that fails.
func (r *pageRequest) plainText(status int, text string) { http.Error(r.Writer, text, status) }
