package console

import (
	"net/http"

	"landfall"
)

// page is one row of the table: how a request gets here, who may come, who
// answers and how it looks.
type page struct {
	method string // "" is GET
	path   string // below the root; its last slash is meant
	role   landfall.OperatorRole
	// verb finds out what is shown, or does what was asked for. An act that went
	// well gives done; anything else is what the view is filled in with.
	verb func(*visit) (any, error)
	view string
	// again is the verb of the page an act stands on and lookAgain its view:
	// when the act is refused, that page is shown again with what was typed and
	// why it was refused.
	again     func(*visit) (any, error)
	lookAgain string
	bare      bool // the view alone, for htmx
	endless   bool // a stream
	open      bool // nobody need be signed in
}

func (p page) pattern() string {
	method := p.method
	if method == "" {
		method = http.MethodGet
	}
	// Without it a path that ends with a slash would match everything below it, and an unknown
	// page would be shown as the one above.
	end := ""
	if p.path == "" || p.path[len(p.path)-1] == '/' {
		end = "{$}"
	}
	return method + " " + Root + p.path + end
}

// reads is a page that whoever signed in may see.
func reads(path string, verb func(*visit) (any, error), view string) page {
	return page{path: path, role: landfall.ConsoleSupport, verb: verb, view: view}
}

// acts is something only operators do, on the page that again shows.
func acts(path string, verb func(*visit) (any, error), on page) page {
	return page{method: http.MethodPost, path: path, role: landfall.ConsoleOperator, verb: verb, again: on.verb, lookAgain: on.view, view: on.view}
}

// done is what an act that went well gives: where to go, and what to say there.
type done struct{ to, say string }

// head is what the layout wants to know of a page. What views are filled in
// with embeds it.
type head struct {
	Title string
	Trail []crumb // the pages above, from the top
	Tabs  []tab
	Wide  bool // uses the whole width
}

// crumb is a page above another one.
type crumb struct{ Name, Path string }

// tab is a page beside another one.
type tab struct {
	Name, Path string
	Here       bool
}

func (h head) heading() head { return h }
