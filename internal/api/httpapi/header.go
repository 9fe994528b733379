package httpapi

import "net/http"

// maxHeaderFields is how many header fields a request may have: several times what
// a browser behind several proxies sends. Their bytes are limited by the server.
const maxHeaderFields = 200

// countFields counts the header fields of a request.
func countFields(header http.Header) int {
	count := 0
	for _, values := range header {
		count += len(values)
	}
	return count
}
