package accountview

import (
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/money"
)

// PageFacts is what is known of the part of an account somebody looks at.
type PageFacts struct {
	Process  landfall.Process
	Supplier landfall.Supplier
	Account  *landfall.AccountPage
	Undone   []landfall.UndoneAccount
	Mails    []landfall.MailRecord
	History  landfall.History
	Old, New *landfall.StagedRevision
}

// Page is an account on one page, long lists cut to their newest rows.
type Page struct {
	View
	StateLabel   string // the state, in the words of the glossary
	BalanceText  string // what the customer owes, or has
	People       People
	SupplyPoints []SupplyPoint
	Pinned       []Note
	Notes        []Note
	// The places that the next pages begin before; 0: this is the last one.
	EntriesBefore, NotesBefore, StatementsBefore int
	LedgerLength, NoteCount, StatementCount      int
	InstructionCount                             int
	Timeline                                     []TimelineEntry
	TimelineBefore                               time.Time // zero: there is nothing earlier
	Changes                                      Changes
}

// mostPeople and mostPoints are how many a page shows.
const maxCustomers, maxSupplyPoints = 50, 100

// NewPage paints a page. Rows is how long its lists are.
func NewPage(facts PageFacts, rows int, options Options) Page {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	options.PartialMasks = true
	all := Facts{Process: facts.Process, Supplier: facts.Supplier, Mails: facts.Mails, Undone: facts.Undone}
	sheet := Page{StateLabel: State(facts.Process.State, facts.Process.Failure != nil)}
	if made := facts.Account; made != nil {
		shown := made.Account
		shown.Data.Customers = shown.Data.Customers[:min(len(shown.Data.Customers), maxCustomers)]
		all.Account = &shown
		sheet.BalanceText = BalanceSentence(made.Balance, made.Data.Currency)
		sheet.LedgerLength, sheet.NoteCount = made.LedgerLength, made.NoteCount
		sheet.StatementCount, sheet.InstructionCount = made.StatementCount, made.InstructionCount
		sheet.Pinned, sheet.Notes = pinnedNotes(made.Pinned, options), convert(made.Notes, func(n landfall.NumberedNote) Note { return newNote(n, options) })
		if last := len(made.Ledger) - 1; last >= 0 && made.Ledger[last].Sequence > 1 {
			sheet.EntriesBefore = made.Ledger[last].Sequence
		}
		if last := len(made.Notes) - 1; last >= 0 && made.Notes[last].Index > 1 {
			sheet.NotesBefore = made.Notes[last].Index
		}
		if last := len(made.StatementIndexes) - 1; last >= 0 && made.StatementIndexes[last] > 1 {
			sheet.StatementsBefore = made.StatementIndexes[last]
		}
	}
	sheet.View = New(all, options)
	if account := sheet.Account; account != nil {
		sheet.People, sheet.SupplyPoints = account.People, account.SupplyPoints[:min(len(account.SupplyPoints), maxSupplyPoints)]
		account.CustomerCount = len(facts.Account.Data.Customers)
	}
	sheet.Timeline, sheet.TimelineBefore = timeline(facts.History, rows)
	sheet.Changes = ChangesBetween(facts.Old, facts.New, options.Personal)
	return sheet
}

// pinnedNotes gives the notes that are on top now.
func pinnedNotes(given []landfall.NumberedNote, options Options) []Note {
	given = slices.DeleteFunc(slices.Clone(given), func(n landfall.NumberedNote) bool { return !n.PinnedAt(options.Now) })
	return convert(given, func(n landfall.NumberedNote) Note { return newNote(n, options) })
}

// symbols are the currencies that people write with a sign.
var symbols = map[string]string{"GBP": "£", "EUR": "€", "USD": "$"}

// Money writes an amount as people say it: £1,204.20.
func Money(amount money.Amount, currency string) string {
	text := strings.TrimPrefix(amount.String(), "-")
	whole, pence, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	text = whole
	if pence != "" {
		text += "." + pence
	}
	if symbol := symbols[currency]; symbol != "" {
		return symbol + text
	}
	return text + " " + currency
}

// BalanceSentence says what a balance means to the customer, without a sign that is
// read wrongly: £0.40 in the customer's favour.
func BalanceSentence(balance money.Amount, currency string) string {
	switch {
	case balance > 0:
		return Money(balance, currency) + " in the customer's favour"
	case balance < 0:
		return "The customer owes " + Money(balance, currency)
	}
	return "Nothing is owed"
}
