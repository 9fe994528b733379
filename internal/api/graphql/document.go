package graphql

import (
	"strings"
	"text/scanner"

	"landfall/internal/lib/limits"
)

// limits limit a GraphQL document. Obtaining a token needs about forty tokens.
// introspectionLimits allow the usual introspection query of GraphQL tools.
type documentLimits struct {
	length, tokens, depth int
}

// Documents are checked before they are parsed, because the parser has no limits
// of its own.
var (
	defaultLimits       = documentLimits{length: limits.GraphQLDocument, tokens: 250, depth: 8}
	introspectionLimits = documentLimits{length: limits.GraphQLIntrospection, tokens: 1000, depth: 32}
)

// documentInfo is what the tokens of a document tell about it, without building
// a tree of hostile input.
type documentInfo struct {
	operations    []operation
	tokenFields   int  // how often the mutation is used
	leadingString bool // a definition starts with a string, which hides its kind
	introspects   bool // it asks for the schema
}

// operation is one operation of a document.
type operation struct {
	kind string // query, mutation or subscription
	name string
}

// operationKind returns the kind of the operation that a request would run, or
// "" if it is unclear; the library refuses such a request.
func (o documentInfo) operationKind(name string) string {
	for _, candidate := range o.operations {
		if candidate.name == name || name == "" && len(o.operations) == 1 {
			return candidate.kind
		}
	}
	return ""
}

// scanDocument scans a document, or says which limit it exceeds. It splits
// tokens exactly as the GraphQL library does. Other errors are left to the
// library.
func scanDocument(text string, limit documentLimits) (documentInfo, string) {
	var found documentInfo
	if len(text) > limit.length {
		return found, "The document is too long."
	}
	scan := newScanner(text)
	depth, header, previous, counted := 0, false, "", false
	for count := 1; ; count++ {
		token := nextToken(scan)
		if token == "" {
			return found, ""
		}
		if count > limit.tokens {
			return found, "The document has too many parts."
		}
		found.introspects = found.introspects || depth > 0 && token == "__schema"
		switch {
		case token == "{" || token == "(" || token == "[":
			// A selection set without a keyword is the short form of a query.
			if depth == 0 && token == "{" {
				if !header {
					found.operations = append(found.operations, operation{kind: "query"})
				}
				header = false
			}
			if depth++; depth > limit.depth {
				return found, "The document is nested too deeply."
			}
		case token == "}" || token == ")" || token == "]":
			depth--
		case depth == 0 && !header:
			header = true
			found.leadingString = found.leadingString || token == `"`
			if token == "query" || token == "mutation" || token == "subscription" {
				found.operations = append(found.operations, operation{kind: token})
			}
		case depth == 0 && len(found.operations) > 0 && previous == found.operations[len(found.operations)-1].kind:
			found.operations[len(found.operations)-1].name = token
		case depth > 0 && previous != "$" && strings.EqualFold(token, "obtainServiceToken"):
			found.tokenFields++
			previous, counted = token, true
			continue
		case token == ":" && counted:
			found.tokenFields-- // it was an alias, not the field
		}
		previous, counted = token, false
	}
}

// newScanner ignores errors: the parser reports them better.
func newScanner(text string) *scanner.Scanner {
	scan := new(scanner.Scanner)
	scan.Init(strings.NewReader(text))
	scan.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings
	scan.Error = func(*scanner.Scanner, string) {}
	return scan
}

// nextToken returns the next token, `"` for any string and "" at the end.
func nextToken(scan *scanner.Scanner) string {
	for {
		switch token := scan.Scan(); token {
		case scanner.EOF:
			return ""
		case ',':
		case '#':
			skipTo(scan, "\n")
		case scanner.String:
			// A block string starts with what looks like an empty string.
			if scan.TokenText() == `""` && scan.Peek() == '"' {
				scan.Next()
				skipTo(scan, `"""`)
			}
			return `"`
		default:
			return scan.TokenText()
		}
	}
}

// skipTo skips up to and including an ending of one repeated character. A
// carriage return also ends a line.
func skipTo(scan *scanner.Scanner, ending string) {
	for run := 0; run < len(ending); {
		next := scan.Next()
		switch {
		case next == scanner.EOF:
			return
		case next == rune(ending[0]), next == '\r' && ending == "\n":
			run++
		default:
			run = 0
		}
	}
}
