package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxParams is how many path parameters a route may have.
const maxParams = 2

// node is a node of the route tree. The tree is matched against the path as
// sent, because a decoded path cannot distinguish a slash in an account number
// from a separator.
type node struct {
	literal map[string]*node
	param   *node
	slashed []*route // routes of the path with a trailing slash
	plain   []*route // routes of the path without one
}

// add adds a route to the tree.
func (n *node) add(path string, r *route) {
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch {
		case segment == "":
		case segment[0] == '{':
			// Parameters have no name in the tree; values are identified by their
			// position.
			if n.param == nil {
				n.param = &node{}
			}
			n = n.param
		default:
			if n.literal == nil {
				n.literal = map[string]*node{}
			}
			if n.literal[segment] == nil {
				n.literal[segment] = &node{}
			}
			n = n.literal[segment]
		}
	}
	if strings.HasSuffix(path, "/") {
		n.slashed = append(n.slashed, r)
	} else {
		n.plain = append(n.plain, r)
	}
}

// match is the result of matching a path.
type match struct {
	routes       []*route // one per method; none: no such path
	missingSlash bool     // only the trailing slash is missing
	params       [maxParams]string
}

// find matches an escaped path. Only parameters are decoded, once. Empty
// segments, dot segments and invalid escapes do not match; nothing is cleaned up
// or guessed.
func (n *node) find(path string) match {
	var found match
	rest, rooted := strings.CutPrefix(path, "/")
	if !rooted {
		return match{}
	}
	ended := true
	for count := 0; rest != ""; {
		var segment string
		segment, rest, ended = strings.Cut(rest, "/")
		switch next := n.literal[segment]; {
		case segment == "" || segment == "." || segment == "..":
			return match{}
		// A literal takes precedence over a parameter.
		case next != nil:
			n = next
		case n.param != nil:
			value, ok := decodeSegment(segment)
			if !ok {
				return match{}
			}
			// In range, because no path in the tree has more than maxParams parameters.
			found.params[count] = value
			count++
			n = n.param
		default:
			return match{}
		}
	}
	switch {
	case ended:
		found.routes = n.slashed
	case n.plain != nil:
		found.routes = n.plain
	default:
		found.routes, found.missingSlash = n.slashed, true
	}
	return found
}

// decodeSegment percent-decodes a segment once. It refuses what cannot be part
// of an identifier, so that it never reaches a database.
func decodeSegment(segment string) (string, bool) {
	value, err := url.PathUnescape(segment)
	if err != nil || !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0 {
		return "", false
	}
	return value, true
}

// splitTarget splits the request target into path and query, exactly as sent.
// The parsed URL loses an escaped slash if another part of the path is encoded
// unusually.
func splitTarget(r *http.Request) (path, query string) {
	path = r.RequestURI
	if !strings.HasPrefix(path, "/") {
		// The absolute form, as sent by proxies: ignore the host.
		_, path, _ = strings.Cut(path, "://")
		if slash := strings.IndexByte(path, '/'); slash >= 0 {
			path = path[slash:]
		}
	}
	path, query, _ = strings.Cut(path, "?")
	return path, query
}

// printable escapes characters that are not allowed in a header field, to return
// a path in Location or Link.
func printable(path string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(path) {
		if c := path[i]; c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '"' {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return out.String()
}
