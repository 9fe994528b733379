package httpapi

import (
	"context"
	"net/http"
)

// consoleRoot is where the console is. Its pages are for people: they are not
// part of the API, and have a table of their own.
const consoleRoot = "/console"

// The console is one route to logs and metrics: the paths of its pages carry
// account numbers.
var (
	consoleReads = &route{method: http.MethodGet, path: consoleRoot + "/"}
	consoleActs  = &route{method: http.MethodPost, path: consoleRoot + "/"}
)

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
