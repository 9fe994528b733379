package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"landfall"
)

// errorPage says what went wrong and what to do.
type errorPage struct {
	pageHead
	Detail   string
	Internal bool
}

// httpStatuses maps kinds of errors to HTTP. Internal errors are left out.
var httpStatuses = map[landfall.Kind]int{
	landfall.Invalid: http.StatusBadRequest, landfall.Unauthenticated: http.StatusUnauthorized, landfall.Forbidden: http.StatusForbidden,
	landfall.NotFound: http.StatusNotFound, landfall.TooMany: http.StatusTooManyRequests, landfall.Unavailable: http.StatusServiceUnavailable,
	landfall.TooLarge: http.StatusRequestEntityTooLarge, landfall.MethodNotAllowed: http.StatusMethodNotAllowed,
	landfall.UpstreamUnavailable: http.StatusServiceUnavailable,
}

func httpStatus(refusal *landfall.Error) int {
	if status, known := httpStatuses[refusal.Kind]; known {
		return status
	}
	return http.StatusInternalServerError
}

var errorTitles = map[landfall.Kind]string{
	landfall.NotFound: "Page not found", landfall.Forbidden: "Permission denied", landfall.Internal: "Something went wrong",
	landfall.Unavailable: "Temporarily unavailable", landfall.UpstreamUnavailable: "Temporarily unavailable", landfall.TooMany: "Too many requests",
}

func (r *pageRequest) fail(err error) {
	switch {
	case errors.Is(err, errNotSignedIn):
		r.redirectToSignIn()
		return
	case errors.Is(err, errNoSecondFactor):
		r.redirectTo(consolePath("me"), http.StatusForbidden)
		return
	}
	// The page shows the detail, which is written for readers. The cause is logged.
	refusal := landfall.UserError("showing a page", err)
	if refusal.Kind == landfall.Internal || refusal.Kind == landfall.Unavailable || refusal.Kind == landfall.UpstreamUnavailable {
		r.console.Logger.ErrorContext(r.Context(), "console page failed", "page", r.route.path, "error", refusal)
	}
	title := errorTitles[refusal.Kind]
	if title == "" {
		title = "That did not work"
	}
	r.formError = nil // it would be shown twice
	r.renderPage(httpStatus(refusal), "error", errorPage{pageHead: pageHead{Title: title}, Detail: refusal.Detail, Internal: refusal.Kind == landfall.Internal})
}

// redirectToSignIn sends the reader to the sign-in page, and afterwards back here.
func (r *pageRequest) redirectToSignIn() {
	to := Root + "sign-in/"
	// Only pages can be returned to: an action is not sent again by a link.
	if r.Method == http.MethodGet && r.URL.Path != Root {
		to += "?to=" + url.QueryEscape(r.URL.RequestURI())
	}
	r.redirectTo(to, http.StatusUnauthorized)
}

// redirectTo sends the reader to another page. A script gets a status instead.
func (r *pageRequest) redirectTo(to string, status int) {
	if r.Header.Get("Hx-Request") != "" {
		// htmx would insert the other page into the current one.
		r.Writer.Header().Set("Hx-Redirect", to)
		r.Writer.WriteHeader(status)
		return
	}
	http.Redirect(r.Writer, r.Request, to, http.StatusSeeOther)
}

// notFound answers paths without a route. If only the trailing slash is missing,
// it redirects to the page.
func (c *Console) notFound(w http.ResponseWriter, r *http.Request) {
	if withSlash := r.Clone(r.Context()); r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/") {
		withSlash.URL.Path += "/"
		if withSlash.URL.RawPath != "" {
			withSlash.URL.RawPath += "/"
		}
		if _, pattern := c.mux.Handler(withSlash); pattern != "" {
			http.Redirect(w, r, withSlash.URL.RequestURI(), http.StatusPermanentRedirect)
			return
		}
	}
	req := &pageRequest{Request: r, Writer: w, console: c, route: route{public: true}}
	if r.Method != http.MethodPost { // the form is not read
		_ = req.authenticate() // only decides what the top bar shows
	}
	req.fail(&landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "There is no page at this address. Start at the overview."})
}

// crossOrigin refuses requests from other sites.
func (c *Console) crossOrigin(w http.ResponseWriter, r *http.Request) {
	req := &pageRequest{Request: r, Writer: w, console: c, route: route{public: true}}
	req.fail(&landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
		Detail: "This request came from another site, so nothing was done. Open the console and try again."})
}

// refuseUnencrypted explains why the console is not available without TLS. It is
// plain text: a page would need assets and cookies, which this connection must not have.
func (c *Console) refuseUnencrypted(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte("The console requires https, except on the machine it runs on (http://127.0.0.1 or http://localhost).\n" +
		"Put a proxy with TLS in front of it and set base-url to its https address.\n"))
}
