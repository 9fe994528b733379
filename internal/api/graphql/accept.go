package graphql

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of an answer. With the modern one the status tells whether
// the document could be executed; with the plain one it stays 200.
const (
	modernType = "application/graphql-response+json"
	plainType  = "application/json"
)

// negotiate chooses the media type of the answer, or "" when the client takes
// neither. Who does not care gets plain JSON; who takes both equally gets the
// modern one.
func negotiate(header http.Header) string {
	accepts := strings.Join(header.Values("Accept"), ",")
	if strings.TrimSpace(accepts) == "" {
		return plainType
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
		case modernType:
			modern = max(modern, quality)
		case plainType:
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
		return modernType
	case plain > 0:
		return plainType
	}
	return ""
}
