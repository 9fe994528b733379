package contract

import "landfall/internal/api/rules"

// BookTable returns the table of a line in a book's file, by the file name
// without its extension, for code that converts other data to such lines. It
// returns nil for an unknown name.
func BookTable(stem string) *rules.Table { return plainSchema.BookTable(stem) }

// BookTable is like the function BookTable, with the fields of packs.
func (s *Schema) BookTable(stem string) *rules.Table {
	return map[string]*rules.Table{
		"accounts": s.account, "notes": s.notes, "transactions": s.transactions, "statements": s.statements,
		"payment-instructions": instructionTable, "control-totals": controlTotalsTable,
	}[stem]
}
