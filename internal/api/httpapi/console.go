package httpapi

import (
	"context"
	"net/http"
	"strings"
)

// consoleRoot is the path of the console. Its pages are not part of the API and
// have their own routes.
const consoleRoot = "/console"

// The console is one route in logs and metrics, because its paths contain
// account numbers.
var (
	consoleReads = &route{method: http.MethodGet, path: consoleRoot + "/"}
	consoleActs  = &route{method: http.MethodPost, path: consoleRoot + "/"}
)

// wantsPage reports whether a request comes from a browser's address bar. Programs get
// what the API answers.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (a *API) console(ctx context.Context, x *exchange) error {
	x.route = consoleReads
	if x.request.Method == http.MethodPost {
		x.route = consoleActs
	}
	if x.path == consoleRoot {
		return x.addSlash()
	}
	a.Console.ServeHTTP(x, x.request.WithContext(ctx))
	return nil
}
