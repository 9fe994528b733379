package httpapi

import "net/http"

// mostFields is how many header fields a request may have: several times what
// a browser behind several proxies sends. Their bytes are limited by the server.
const mostFields = 200

// fields counts the header fields of a request.
func fields(header http.Header) int {
	count := 0
	for _, values := range header {
		count += len(values)
	}
	return count
}
