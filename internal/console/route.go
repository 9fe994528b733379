package console

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// handlerFunc loads the data of a page, or performs an action. It returns what
// the view renders, a redirect, or nil if it wrote the response itself.
type handlerFunc func(*pageRequest) (any, error)

// route is one page or action.
type route struct {
	method string              // "" is GET
	path   string              // below Root; a trailing slash matters
	needs  landfall.Permission // 0: only a sign-in
	handle handlerFunc
	view   string
	// formHandle and formView are the page that holds the form of an action. A
	// refused action shows it again with the error and what was typed.
	formHandle handlerFunc
	formView   string
	formPath   string
	partial    bool // render the view without the layout
	streaming  bool // no time limit
	public     bool // no sign-in needed
	setUp      bool // also for people who must set up a second factor first
}

func (p route) pattern() string {
	method := p.method
	if method == "" {
		method = http.MethodGet
	}
	// Without {$} a path with a trailing slash would match everything below it.
	end := ""
	if p.path == "" || p.path[len(p.path)-1] == '/' {
		end = "{$}"
	}
	return method + " " + Root + p.path + end
}

// isAdmin reports whether a path is below the administration.
func isAdmin(path string) bool { return strings.HasPrefix(path, "admin/") }

// get is a page for everybody who may read, or inspect the administration.
func get(path string, handle handlerFunc, view string) route {
	page := route{path: path, needs: landfall.MayRead, handle: handle, view: view}
	if isAdmin(path) {
		page.needs = landfall.MayInspect
	}
	return page
}

// requiring returns a page with another permission.
func (p route) requiring(permission landfall.Permission) route {
	p.needs = permission
	return p
}

// post is an action for operators, or in the administration for administrators. Its
// form is on another page.
func post(path string, handle handlerFunc, form route) route {
	act := route{
		method: http.MethodPost, path: path, needs: landfall.MayAct, handle: handle,
		view: form.view, formHandle: form.handle, formView: form.view, formPath: form.path,
	}
	if isAdmin(path) {
		act.needs = landfall.MayAdminister
	}
	return act
}

// action is a handler that does something and then shows a message on a page.
func action(to func(*pageRequest) string, message string, do func(*pageRequest) error) handlerFunc {
	return func(r *pageRequest) (any, error) { return redirect{to(r), message}, do(r) }
}

// confirmedAction is an action that needs a value of the path typed as confirmation.
func confirmedAction(name string, to func(*pageRequest) string, message string, do func(*pageRequest) error) handlerFunc {
	return action(to, message, func(r *pageRequest) error {
		if err := r.requireConfirmation(r.PathValue(name)); err != nil {
			return err
		}
		return do(r)
	})
}

// withName calls a method of the operator with a value of the request's path.
func withName(name string, method func(*operate.Operator, context.Context, string) error) func(*pageRequest) error {
	return func(r *pageRequest) error { return method(r.operator(), r.Context(), r.PathValue(name)) }
}

// pathTo returns a path below Root. Parts in braces are values of the request's path.
func pathTo(parts ...string) func(*pageRequest) string {
	return func(r *pageRequest) string {
		filled := slices.Clone(parts)
		for i, part := range parts {
			if part[0] == '{' {
				filled[i] = r.PathValue(part[1 : len(part)-1])
			}
		}
		return consolePath(filled...)
	}
}

// redirect is the result of an action: the next page and a message for it.
type redirect struct{ to, message string }

// pageHead is what the layout shows of a page. Page types embed it.
type pageHead struct {
	Title       string
	Breadcrumbs []breadcrumb // from the top
	Tabs        []tab
}

// breadcrumb is a parent page.
type breadcrumb struct{ Name, Path string }

// tab is a sibling page.
type tab struct {
	Name, Path string
	Current    bool
}

func (h pageHead) head() pageHead { return h }

// withTabs adds tabs. Each is a name and the last part of its path, which is
// empty for the page at base itself.
func (h pageHead) withTabs(current string, base []string, tabs [][2]string) pageHead {
	for _, one := range tabs {
		path := base
		if one[1] != "" {
			path = append(slices.Clone(base), one[1])
		}
		h.Tabs = append(h.Tabs, tab{one[0], consolePath(path...), one[1] == current})
	}
	return h
}

// routes lists every page and action of the console.
func routes() []route {
	return slices.Concat(signInRoutes(), profileRoutes(), overviewRoutes(), supplierRoutes(), runRoutes(), adminRoutes(), searchRoutes(), paletteRoutes(), accountRoutes(), listRoutes())
}

// formRedirect leads from the address of an action to the page that holds its form.
// The browser shows that address after a refused action or a reveal, and people
// reload it or send it to others.
func (p route) formRedirect() route {
	return get(p.path, func(r *pageRequest) (any, error) {
		path := p.formPath
		for _, name := range pathParameter.FindAllString(path, -1) {
			path = strings.Replace(path, name, url.PathEscape(r.PathValue(name[1:len(name)-1])), 1)
		}
		http.Redirect(r.Writer, r.Request, Root+path, http.StatusSeeOther)
		return nil, nil //nolint:nilnil // the response is written
	}, "")
}

// pathParameter is a parameter of a route's path.
var pathParameter = regexp.MustCompile(`\{\w+\}`)

// allRoutes adds a redirect for every action whose address is no page.
func allRoutes() []route {
	all := routes()
	pages := map[string]bool{}
	for _, page := range all {
		pages[page.path] = pages[page.path] || page.method != http.MethodPost
	}
	for _, page := range all {
		if page.formPath != "" && !pages[page.path] {
			pages[page.path] = true
			all = append(all, page.formRedirect())
		}
	}
	return all
}

// Paths returns the path of everything that a signed-in person can read, with
// parameters in braces. Tests and benchmarks use it to visit every page.
func Paths() (paths []string) {
	for _, page := range routes() {
		if page.method != http.MethodPost && !page.public {
			paths = append(paths, Root+page.path)
		}
	}
	return paths
}
