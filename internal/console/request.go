package console

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// pageRequest is one request and the person who makes it.
type pageRequest struct {
	*http.Request
	Writer    http.ResponseWriter
	console   *Console
	route     route
	me        landfall.Operator
	session   landfall.Session
	form      url.Values      // of a POST; nil otherwise
	formError *landfall.Error // why the action was refused
}

// operator returns the operator's actions under the name of the signed-in person and
// with their permissions.
func (r *pageRequest) operator() *operate.Operator {
	from := r.origin()
	return r.console.OperatorFor(r.actor()).WithRequest(from.Address, from.RequestID).For(r.me)
}

// origin is where the request comes from, and the id that the server gave it.
func (r *pageRequest) origin() auth.Origin {
	return auth.Origin{Address: r.console.ClientAddress(r.Request).String(), RequestID: r.Writer.Header().Get("X-Request-ID")}
}

// actor is the name that the audit records.
func (r *pageRequest) actor() string { return "operator:" + r.me.Name }

// errNotSignedIn redirects to the sign-in page, and errNoSecondFactor to the profile.
var (
	errNotSignedIn    = errors.New("not signed in")
	errNoSecondFactor = errors.New("no second factor")
)

// errNotText refuses input that no database can store.
var errNotText = landfall.Refuse(landfall.CodeValidationFailed, "The address or the form contains characters that are not text. Go back and type it again.")

// isText reports whether a text is valid UTF-8 without NUL.
func isText(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// areTexts reports whether all names and values are text.
func areTexts(values url.Values) bool {
	for name, all := range values {
		if !isText(name) || slices.ContainsFunc(all, func(one string) bool { return !isText(one) }) {
			return false
		}
	}
	return true
}

// authenticate finds the session, checks the role and reads the form.
func (r *pageRequest) authenticate() error {
	if cookie, err := r.Cookie(r.sessionCookie()); err == nil {
		identify := r.console.Sessions.Identify
		if r.route.streaming { // the page updates itself: nobody needs to be there
			identify = r.console.Sessions.IdentifyLive
		}
		operator, session, err := identify(r.Context(), cookie.Value)
		known, _ := errors.AsType[*landfall.Error](err)
		switch {
		case err == nil:
			r.me, r.session = operator, session
		// An expired session is the same as none. On any other error do not ask for
		// the password: signing in would not help.
		case known == nil || known.Kind != landfall.Unauthenticated:
			return err
		}
	}
	switch {
	case r.route.public:
	case r.me.Name == "":
		return errNotSignedIn
	case r.console.Sessions.NeedsSecondFactor(r.me, r.session) && !r.route.setUp:
		return errNoSecondFactor
	case r.route.needs != 0:
		// The operator's actions check again what exactly is read and changed.
		if err := r.operator().Permit(r.route.needs, r.PathValue("supplier")); err != nil {
			return err
		}
	}
	if r.Method != http.MethodPost {
		return nil
	}
	// Read the form only after the role check.
	r.Body = http.MaxBytesReader(r.Writer, r.Body, limits.ConsoleForm)
	if err := r.ParseForm(); err != nil {
		return landfall.Refuse(landfall.CodeValidationFailed, "Cannot read the form. Go back and send it again.")
	}
	// PostForm and not Form: a query parameter must never count as form input.
	r.form = r.PostForm
	if !areTexts(r.form) {
		return errNotText
	}
	return nil
}

// respond calls the handler and renders its result. If an action is refused, it
// renders the page with the form again, with the error and what was typed.
func (r *pageRequest) respond() {
	result, err := r.route.handle(r)
	if err != nil {
		refusal, known := errors.AsType[*landfall.Error](err)
		// Internal errors get their own page: other input would not help.
		if r.route.formHandle == nil || !known || refusal.Kind == landfall.Internal {
			r.fail(err)
			return
		}
		r.formError = refusal
		if result, err = r.route.formHandle(r); err != nil {
			r.fail(err)
			return
		}
		r.renderPage(httpStatus(refusal), r.route.formView, result)
		return
	}
	switch result := result.(type) {
	case nil: // the handler has written the response
	case redirect:
		r.flash(result.message)
		// See Other, so that reloading the next page does not repeat the action.
		http.Redirect(r.Writer, r.Request, result.to, http.StatusSeeOther)
	default:
		r.renderPage(http.StatusOK, r.route.view, result)
	}
}

// renderPage renders a view, with the layout unless the route is a partial one.
func (r *pageRequest) renderPage(status int, view string, page any) {
	// Render into memory: the view may fail, and the status is sent with the first byte.
	body, err := r.console.render(r.zone(), view, r.data(page), r.route.partial)
	if err != nil {
		r.console.Logger.ErrorContext(r.Context(), "cannot render console page", "view", view, "error", err)
		r.plainText(http.StatusInternalServerError, "Cannot show this page. See the log.")
		return
	}
	r.Writer.Header().Set("Content-Type", "text/html; charset=utf-8")
	content := []byte(body)
	// A response to a form may show a secret beside what was typed, whose size would say
	// something about the secret if both were compressed together.
	if r.Method == http.MethodGet && acceptsGzip(r.Request) {
		content = compress(content, gzip.BestSpeed)
		r.Writer.Header().Set("Content-Encoding", "gzip")
	}
	r.Writer.WriteHeader(status)
	_, _ = r.Writer.Write(content) // the reader may have left
}

// plainText answers without a template.
func (r *pageRequest) plainText(status int, text string) { http.Error(r.Writer, text, status) }

// queryParam returns a trimmed query parameter.
func (r *pageRequest) queryParam(name string) string {
	return strings.TrimSpace(r.URL.Query().Get(name))
}

// queryInt returns a query parameter as a number. Anything malformed is 0, so
// that an edited address shows the first page and not an error.
func (r *pageRequest) queryInt(name string) int {
	number, err := strconv.Atoi(r.queryParam(name))
	if err != nil || number < 0 {
		return 0
	}
	return number
}

// queryTime returns a query parameter in microseconds as a time.
func (r *pageRequest) queryTime(name string) time.Time {
	micros, err := strconv.ParseInt(r.queryParam(name), 10, 64)
	if err != nil || micros <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// formValue returns a trimmed form field.
func (r *pageRequest) formValue(name string) string { return strings.TrimSpace(r.form.Get(name)) }

// formInt returns a form field as a whole number. An empty field is 0.
func (r *pageRequest) formInt(name string) (int, error) {
	text := r.formValue(name)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a whole number.", text))
	}
	return number, nil
}

// formTime returns a form field as a time in the reader's zone. An empty field is
// the zero time.
func (r *pageRequest) formTime(name string) (time.Time, error) {
	text := r.formValue(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, r.zone()); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a time such as 2026-11-16 22:30.", text))
}

// formDuration returns a form field such as 12h or 90d as a duration. An empty
// field is 0.
func (r *pageRequest) formDuration(name string) (time.Duration, error) {
	text := r.formValue(name)
	if text == "" || text == "0" {
		return 0, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		// Limited so that the product cannot overflow. ParseDuration refuses the rest.
		if count, err := strconv.Atoi(days); err == nil && count >= 0 && count < 100_000 {
			return time.Duration(count) * 24 * time.Hour, nil
		}
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		return 0, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a duration such as 12h or 90d.", text))
	}
	return length, nil
}

// requireConfirmation refuses a dangerous action unless a name was typed.
func (r *pageRequest) requireConfirmation(name string) error {
	if r.formValue("confirm") != name {
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Type %s to confirm. Nothing was done.", name))
	}
	return nil
}

// background returns a context for work that outlives the request and ends with
// the service.
func (r *pageRequest) background() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	go func() {
		select {
		case <-r.console.Shutdown:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
