package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"landfall"
)

// fault is a page that says what went wrong and what to do.
type fault struct {
	head
	Detail string
	Ours   bool
}

// fail answers a visit that came to nothing.
func (v *visit) fail(err error) {
	if errors.Is(err, errNotSignedIn) {
		v.toTheDoor()
		return
	}
	// The cause goes to the log below; the page has the detail alone, which is written for
	// readers.
	refusal := landfall.UserError("showing a page", err)
	if refusal.Kind == landfall.Internal || refusal.Kind == landfall.Unavailable || refusal.Kind == landfall.UpstreamUnavailable {
		v.console.Logger.ErrorContext(v.ctx(), "a page of the console failed", "page", v.page.path, "error", refusal)
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
	v.refusal = nil
	v.show(status(refusal), "error", fault{head: head{Title: title}, Detail: refusal.Detail, Ours: refusal.Kind == landfall.Internal})
}

// toTheDoor sends a visitor to sign in, and back to where he wanted to go.
func (v *visit) toTheDoor() {
	to := Root + "sign-in/"
	// Only what is read can be gone back to: an act that was sent without a session is not sent
	// again by a link.
	if v.Method == http.MethodGet && v.URL.Path != Root {
		to += "?to=" + url.QueryEscape(v.URL.RequestURI())
	}
	if v.Header.Get("Hx-Request") != "" {
		// htmx would put the door into the middle of the page.
		v.Writer.Header().Set("Hx-Redirect", to)
		v.Writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(v.Writer, v.Request, to, http.StatusSeeOther)
}

// visitor is a visit outside of the table.
func (c *Console) visitor(w http.ResponseWriter, r *http.Request) *visit {
	v := &visit{Request: r, Writer: w, console: c, page: page{open: true}}
	// A form was not read yet, and is not to be: this visit only says that nothing is here.
	if r.Method != http.MethodPost {
		_ = v.admit() // who it is only decides what the bar says
	}
	return v
}

// unknown answers what is in no row of the table. Whoever only forgot the slash
// at the end is sent to the page.
func (c *Console) unknown(w http.ResponseWriter, r *http.Request) {
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
	c.visitor(w, r).fail(&landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound,
		Detail: "No page of the console has this address. The overview links to all of them."})
}

// crossOrigin refuses what another site wants done in a visitor's name.
func (c *Console) crossOrigin(w http.ResponseWriter, r *http.Request) {
	v := &visit{Request: r, Writer: w, console: c, page: page{open: true}}
	v.fail(&landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
		Detail: "This was sent from another site, so nothing was done. Open the console and do it there."})
}

// refusePlain explains why the console is not to be had without TLS.
func (c *Console) refusePlain(w http.ResponseWriter, _ *http.Request) {
	// Plain text, because a page would need cookies and files that this connection is not to
	// have.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte("The console is served by https only, except to the machine it runs on (http://127.0.0.1 or http://localhost).\n" +
		"Put a proxy with TLS in front of it and set base-url to its https address.\n"))
}
