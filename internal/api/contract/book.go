package contract

import "landfall/internal/api/rules"

// BookTable gives the declaration of what a line of a book's file is, by the
// beginning of the file's name, for those who write such lines from something
// else. It is nil for a name that no file has.
func BookTable(stem string) *rules.Table {
	return map[string]*rules.Table{
		"accounts": accountTable, "notes": notesTable, "transactions": transactionsTable, "statements": statementsTable,
		"payment-instructions": instructionTable, "control-totals": controlTotalsTable,
	}[stem]
}
