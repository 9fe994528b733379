package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"landfall"
)

// errorPage is a page that says what went wrong and what to do.
type errorPage struct {
	pageHead
	Detail   string
	Internal bool
}

// fail answers a visit that came to nothing.
func (r *pageRequest) fail(err error) {
	if errors.Is(err, errNotSignedIn) {
		r.redirectToSignIn()
		return
	}
	// The cause goes to the log below; the page has the detail alone, which is written for
	// readers.
	refusal := landfall.UserError("showing a page", err)
	if refusal.Kind == landfall.Internal || refusal.Kind == landfall.Unavailable || refusal.Kind == landfall.UpstreamUnavailable {
		r.console.Logger.ErrorContext(r.Context(), "a page of the console failed", "page", r.route.path, "error", refusal)
	}
	titles := map[landfall.Kind]string{
		landfall.NotFound: "There is nothing here", landfall.Forbidden: "This is for operators",
		landfall.Unavailable: "Not right now", landfall.Internal: "Something went wrong", landfall.Invalid: "That did not work",
		landfall.TooMany: "Too fast", landfall.UpstreamUnavailable: "Not right now",
	}
	title := titles[refusal.Kind]
	if title == "" {
		title = "That did not work"
	}
	// The page of an error stands alone: a refusal left on the visit would be shown on it a
	// second time.
	r.formError = nil
	r.renderPage(httpStatus(refusal), "error", errorPage{pageHead: pageHead{Title: title}, Detail: refusal.Detail, Internal: refusal.Kind == landfall.Internal})
}

// redirectToSignIn sends a visitor to sign in, and back to where he wanted to go.
func (r *pageRequest) redirectToSignIn() {
	to := Root + "sign-in/"
	// Only what is read can be gone back to: an act that was sent without a session is not sent
	// again by a link.
	if r.Method == http.MethodGet && r.URL.Path != Root {
		to += "?to=" + url.QueryEscape(r.URL.RequestURI())
	}
	if r.Header.Get("Hx-Request") != "" {
		// htmx would put the door into the middle of the page.
		r.Writer.Header().Set("Hx-Redirect", to)
		r.Writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(r.Writer, r.Request, to, http.StatusSeeOther)
}

// anonymousRequest is a visit outside of the table.
func (c *Console) anonymousRequest(w http.ResponseWriter, r *http.Request) *pageRequest {
	req := &pageRequest{Request: r, Writer: w, console: c, route: route{public: true}}
	// A form was not read yet, and is not to be: this visit only says that nothing is here.
	if r.Method != http.MethodPost {
		_ = req.authenticate() // who it is only decides what the bar says
	}
	return req
}

// notFound answers what is in no row of the table. Whoever only forgot the slash
// at the end is sent to the page.
func (c *Console) notFound(w http.ResponseWriter, r *http.Request) {
	if ended := r.Clone(r.Context()); r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/") {
		ended.URL.Path += "/"
		if ended.URL.RawPath != "" {
			ended.URL.RawPath += "/"
		}
		if _, pattern := c.mux.Handler(ended); pattern != "" {
			// Permanent, and with the method kept: the address without the slash will never be
			// another page.
			http.Redirect(w, r, ended.URL.RequestURI(), http.StatusPermanentRedirect)
			return
		}
	}
	c.anonymousRequest(w, r).fail(&landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound,
		Detail: "No page of the console has this address. The overview links to all of them."})
}

// crossOrigin refuses what another site wants done in a visitor's name.
func (c *Console) crossOrigin(w http.ResponseWriter, r *http.Request) {
	req := &pageRequest{Request: r, Writer: w, console: c, route: route{public: true}}
	req.fail(&landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
		Detail: "This was sent from another site, so nothing was done. Open the console and do it there."})
}

// refuseUnencrypted explains why the console is not to be had without TLS.
func (c *Console) refuseUnencrypted(w http.ResponseWriter, _ *http.Request) {
	// Plain text, because a page would need cookies and files that this connection is not to
	// have.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte("The console is served by https only, except to the machine it runs on (http://127.0.0.1 or http://localhost).\n" +
		"Put a proxy with TLS in front of it and set base-url to its https address.\n"))
}
