package httpapi

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"landfall"
	"landfall/internal/lib/handbook"
)

// referenceFiles is the API reference page with everything it needs, so that it
// works without internet access.
//
//go:embed reference
var referenceFiles embed.FS

// referenceTypes lists the files of the page with their content type.
var referenceTypes = map[string]string{
	"page.css":             "text/css; charset=utf-8",
	"page.js":              "text/javascript; charset=utf-8",
	"rapidoc-9.3.8.min.js": "text/javascript; charset=utf-8",
	"rapidoc-LICENSE.txt":  "text/plain; charset=utf-8",
}

// referencePolicy allows the page to load only what this server serves. The
// viewer sets style attributes and adds one style element, which is allowed by
// its hash. The hash changes with the colours of the page.
const referencePolicy = "default-src 'none'; script-src 'self'; " +
	"style-src 'self' 'sha256-MmevvwLUOm6JayKr0MLDBSGzXtWtZEsicmCiMpvT1+Y='; style-src-attr 'unsafe-inline'; " +
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsPage serves the reference page. It requires no token.
func (a *API) docsPage(_ context.Context, x *exchange) error {
	x.Header().Set("Content-Security-Policy", referencePolicy)
	x.Header().Set("Referrer-Policy", "no-referrer")
	return x.file("index.html", "text/html; charset=utf-8", "no-cache")
}

// docsFile serves a file of the page.
func (a *API) docsFile(_ context.Context, x *exchange) error {
	name := x.params[0]
	kind, known := referenceTypes[name]
	if !known {
		return errNotFound
	}
	return x.file(name, kind, "public, max-age=86400")
}

// handbookSite is built by the first request for it.
var handbookSite = sync.OnceValues(func() (handbook.Site, error) { return handbook.Build(landfall.Handbook) })

// handbookFile serves a file of the handbook. It requires no token.
func (a *API) handbookFile(_ context.Context, x *exchange) error {
	site, err := handbookSite()
	if err != nil {
		return err
	}
	name := cmp.Or(x.params[0], handbook.FrontPage)
	// The alerts link to the pages by the names they have in the repository.
	if page, is := strings.CutSuffix(name, ".md"); is && site[page+".html"].Content != nil {
		x.Header().Set("Location", page+".html")
		x.Header().Set("Content-Length", "0")
		x.WriteHeader(http.StatusPermanentRedirect)
		return nil
	}
	file, found := site[name]
	if !found {
		return errNotFound
	}
	policy := handbook.PolicyOfPages
	if file.Type == "image/svg+xml" {
		policy = "default-src 'none'; style-src 'unsafe-inline'" // a picture has its own colours
	}
	x.Header().Set("Content-Security-Policy", policy)
	x.Header().Set("Referrer-Policy", "no-referrer")
	return x.content(file.Content, file.Type, "no-cache")
}

func (x *exchange) file(name, kind, caching string) error {
	data, err := referenceFiles.ReadFile("reference/" + name)
	if err != nil {
		return err
	}
	return x.content(data, kind, caching)
}

// content writes a file.
func (x *exchange) content(data []byte, kind, caching string) error {
	header := x.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(data)))
	header.Set("Cache-Control", caching)
	_, _ = x.Write(data)
	return nil
}

// index points to the documentation.
func (a *API) index(_ context.Context, x *exchange) error {
	return x.json(http.StatusOK, []byte(`{"service":"Landfall","reference":"/docs/","openapi":"/openapi.json","handbook":"/docs/handbook/"}`))
}

// token passes a request to the GraphQL handler, which has its own limits and
// error format.
func (a *API) token(ctx context.Context, x *exchange) error {
	request := x.request.WithContext(ctx)
	if request.Method == http.MethodHead {
		request.Method = http.MethodGet
	}
	a.Token.ServeHTTP(x, request)
	return nil
}
