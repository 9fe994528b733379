package ledger

import (
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Conflict is what keeps an account from being created: the index of a statement
// or payment instruction that contradicts an earlier one, with the fields that
// differ. It is -1 where there is no conflict.
type Conflict struct {
	Statement, Instruction int
	Fields                 []string
}

// NewAccount derives an account from its data: its periods, ledger and balance,
// and its notes, statements and payment instructions, treated like those that
// are posted later.
func NewAccount(data landfall.AccountData, supplier landfall.Supplier, now time.Time) (landfall.Account, Conflict) {
	conflict := Conflict{Statement: -1, Instruction: -1}
	if data.Currency == "" {
		data.Currency = supplier.Currency
	}
	account := landfall.Account{Key: data.Key}
	account.Periods, account.Ledger, account.Balance = Open(data, calendar.DayOf(now, calendar.Zone(supplier.TimeZone)))
	data.Statements = InUnits(data.Statements, supplier.StatementAmounts, data.Currency)
	_, data.Notes = PrepareNotes(data.Notes).Onto(nil, now)
	if data.Statements, conflict.Statement = PostStatements(nil, data.Statements); conflict.Statement >= 0 {
		return account, conflict
	}
	data.Instructions, conflict.Instruction, conflict.Fields = PostInstructions(nil, data.Instructions)
	account.Data = data
	return account, conflict
}
