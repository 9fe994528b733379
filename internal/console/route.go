package console

import (
	"net/http"
	"slices"

	"landfall"
)

// route is one row of the table: how a request gets here, who may come, who
// answers and how it looks.
type route struct {
	method string // "" is GET
	path   string // below the root; its last slash is meant
	role   landfall.OperatorRole
	// verb finds out what is shown, or does what was asked for. An act that went
	// well gives done; anything else is what the view is filled in with.
	handle func(*pageRequest) (any, error)
	view   string
	// again is the verb of the page an act stands on and lookAgain its view:
	// when the act is refused, that page is shown again with what was typed and
	// why it was refused.
	formHandle func(*pageRequest) (any, error)
	formView   string
	partial    bool // the view alone, for htmx
	streaming  bool // a stream
	public     bool // nobody need be signed in
}

func (p route) pattern() string {
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

// get is a page that whoever signed in may see.
func get(path string, verb func(*pageRequest) (any, error), view string) route {
	return route{path: path, role: landfall.ConsoleSupport, handle: verb, view: view}
}

// post is something only operators do, on the page that again shows.
func post(path string, verb func(*pageRequest) (any, error), on route) route {
	return route{method: http.MethodPost, path: path, role: landfall.ConsoleOperator, handle: verb, formHandle: on.handle, formView: on.view, view: on.view}
}

// redirect is what an act that went well gives: where to go, and what to say there.
type redirect struct{ to, message string }

// pageHead is what the layout wants to know of a page. What views are filled in
// with embeds it.
type pageHead struct {
	Title       string
	Breadcrumbs []breadcrumb // the pages above, from the top
	Tabs        []tab
	Wide        bool // uses the whole width
}

// breadcrumb is a page above another one.
type breadcrumb struct{ Name, Path string }

// tab is a page beside another one.
type tab struct {
	Name, Path string
	Current    bool
}

func (h pageHead) head() pageHead { return h }

// routes is the table: every page and every act of the console.
func routes() []route {
	return slices.Concat(signInRoutes(), overviewRoutes(), supplierRoutes(), runRoutes(), adminRoutes(), searchRoutes(), accountRoutes(), listRoutes())
}

// Paths gives the path of everything that can be read when one is signed in,
// with the names of what stands for something in braces. Whoever measures or
// walks the console leaves no page out.
func Paths() (paths []string) {
	for _, page := range routes() {
		if page.method != http.MethodPost && !page.public {
			paths = append(paths, Root+page.path)
		}
	}
	return paths
}
