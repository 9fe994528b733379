package httpapi

import "net/http"

// maxHeaderFields is several times what a browser behind several proxies sends.
// The server limits the size of the header.
const maxHeaderFields = 200

// countFields returns the number of header fields.
func countFields(header http.Header) int {
	count := 0
	for _, values := range header {
		count += len(values)
	}
	return count
}
