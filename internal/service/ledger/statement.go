package ledger

import (
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// InUnits returns statements with their amounts in units of the currency. Some
// suppliers send them in minor units, and read them again as they sent them.
func InUnits(statements []landfall.Statement, unit landfall.AmountUnit, currency string) []landfall.Statement {
	if unit != landfall.MinorUnits {
		return statements
	}
	statements = slices.Clone(statements)
	for i := range statements {
		if gross := statements[i].GrossAmount; gross != nil {
			amount, _ := money.FromMinor(*gross, money.Places(currency)) // the rules refuse fractions
			statements[i].GrossAmount, statements[i].SentAmount = &amount, gross
		}
	}
	return statements
}

// PostStatements decides which of the posted statements are new. A repeat of an
// existing statement changes nothing. The second result is the index of the
// first statement that contradicts an existing one, or -1.
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

// sameStatement compares the content of two statements. It compares amounts
// separately, because they are pointers.
func sameStatement(a, b landfall.Statement) bool {
	if (a.GrossAmount == nil) != (b.GrossAmount == nil) {
		return false
	}
	if a.GrossAmount != nil && *a.GrossAmount != *b.GrossAmount {
		return false
	}
	if a.Extra != b.Extra && !rules.SameJSON(a.Extra, b.Extra) {
		return false
	}
	a.GrossAmount, b.GrossAmount = nil, nil
	a.SentAmount, b.SentAmount = nil, nil
	a.Extra, b.Extra = "", ""
	// A leading slash makes no difference.
	a.Path, b.Path = strings.TrimPrefix(a.Path, "/"), strings.TrimPrefix(b.Path, "/")
	return a == b
}
