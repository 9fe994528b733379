package ledger

import (
	"strings"

	"landfall"
)

// PostStatements decides which of the posted statements are new. A statement
// that is there already with the same content changes nothing; the index of
// the first one that contradicts what is there is the second result, -1 when
// there is none.
func PostStatements(existing, posted []landfall.Statement) ([]landfall.Statement, int) {
	known := make(map[string]landfall.Statement, len(existing)+len(posted))
	for _, statement := range existing {
		known[statement.ID] = statement
	}
	var fresh []landfall.Statement
	for i, statement := range posted {
		if other, there := known[statement.ID]; there {
			if !sameStatement(other, statement) {
				return nil, i
			}
			continue
		}
		known[statement.ID] = statement
		fresh = append(fresh, statement)
	}
	return fresh, -1
}

// sameStatement compares what was said. Amounts are compared apart, because they
// are kept behind pointers.
func sameStatement(a, b landfall.Statement) bool {
	if (a.GrossAmount == nil) != (b.GrossAmount == nil) {
		return false
	}
	if a.GrossAmount != nil && *a.GrossAmount != *b.GrossAmount {
		return false
	}
	a.GrossAmount, b.GrossAmount = nil, nil
	// A slash in front of a path means nothing.
	a.Path, b.Path = strings.TrimPrefix(a.Path, "/"), strings.TrimPrefix(b.Path, "/")
	return a == b
}
