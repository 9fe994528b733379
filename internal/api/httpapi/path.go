package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxParams is how many path parameters a route may have.
const maxParams = 2

// node is one place in the tree of paths. The tree is walked over the path as
// it was sent, because a decoded path can no longer tell a slash inside an
// account number from a slash between segments.
type node struct {
	literal map[string]*node
	param   *node
	slashed []*route // of the path that ends here with a slash
	plain   []*route // of the path that ends here without one
}

// add adds a route to the tree.
func (n *node) add(path string, r *route) {
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch {
		case segment == "":
		case segment[0] == '{':
			// A parameter has no name in the tree: values are given by their place in the path.
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

// match is what a path turned out to be.
type match struct {
	routes       []*route // one per method; none: no such path
	missingSlash bool     // only the slash at the end is missing
	params       [maxParams]string
}

// find walks the tree along an escaped path. Segments are decoded once, and
// only where a route has a parameter: empty segments, dot segments and broken
// escapes are no path of ours, so nothing is ever cleaned up or guessed.
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
		// A literal goes before a parameter, so that no value can hide a path of ours.
		case next != nil:
			n = next
		case n.param != nil:
			value, ok := decodeSegment(segment)
			if !ok {
				return match{}
			}
			// This needs no bound of its own: no way through the tree has more parameters than a
			// route may have.
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

// decodeSegment undoes percent-encoding exactly once. What cannot be part of any
// identifier is refused here, so that it never reaches a database.
func decodeSegment(segment string) (string, bool) {
	value, err := url.PathUnescape(segment)
	if err != nil || !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0 {
		return "", false
	}
	return value, true
}

// splitTarget splits the request target into path and query, exactly as sent. The
// parsed URL is of no use here: it forgets an escaped slash when another part
// of the path is spelled unusually.
func splitTarget(r *http.Request) (path, query string) {
	path = r.RequestURI
	if !strings.HasPrefix(path, "/") {
		// The absolute form, as proxies send it: the host before the path is not looked at.
		_, path, _ = strings.Cut(path, "://")
		if slash := strings.IndexByte(path, '/'); slash >= 0 {
			path = path[slash:]
		}
	}
	path, query, _ = strings.Cut(path, "?")
	return path, query
}

// printable escapes what may not stand in a header field, so that a strange
// path can be given back in a Location or a Link.
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
