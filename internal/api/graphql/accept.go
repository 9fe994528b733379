package graphql

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Media types of a response. With responseType, the HTTP status shows whether
// the document could be executed; with jsonType it stays 200.
const (
	responseType = "application/graphql-response+json"
	jsonType     = "application/json"
)

// negotiate returns the media type of the response, or "" if the client accepts
// neither. The default is plain JSON; if both are accepted equally, responseType
// is used.
func negotiate(header http.Header) string {
	accepts := strings.Join(header.Values("Accept"), ",")
	if strings.TrimSpace(accepts) == "" {
		return jsonType
	}
	const unnamed = -1.0
	modern, plain, anything := unnamed, unnamed, unnamed
	for part := range strings.SplitSeq(accepts, ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality := 1.0
		if text, given := params["q"]; given {
			if quality, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		switch kind {
		case responseType:
			modern = max(modern, quality)
		case jsonType:
			plain = max(plain, quality)
		case "*/*", "application/*":
			anything = max(anything, quality)
		}
	}
	if plain == unnamed {
		plain = anything
	}
	switch {
	case modern > 0 && modern >= plain:
		return responseType
	case plain > 0:
		return jsonType
	}
	return ""
}
