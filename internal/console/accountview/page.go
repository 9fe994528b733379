package accountview

import (
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/money"
)

// PageFacts is the stored part of an account that a page shows.
type PageFacts struct {
	Process    landfall.Process
	Supplier   landfall.Supplier
	Account    *landfall.AccountPage
	Undone     []landfall.UndoneAccount
	Refused    []landfall.Failure // postings
	Mails      []landfall.MailRecord
	Deliveries []landfall.TargetDelivery // shown by the page itself
	History    landfall.History
	Old, New   *landfall.StagedRevision
	PackValues []contract.PackValue
	PackMore   int
	Staged     *landfall.AccountData
}

// Page is an account on one page. Long lists have their newest rows only.
type Page struct {
	View
	StateLabel   string // the state for people
	BalanceText  string // what the customer owes or is owed
	Next         []string
	Trouble      []string
	People       People
	SupplyPoints []SupplyPoint
	Pinned       []Note
	Notes        []Note
	// Where the next pages start; 0 on the last one.
	EntriesBefore, StatementsBefore         int
	NotesBefore                             landfall.NotePosition
	LedgerLength, NoteCount, StatementCount int
	InstructionCount                        int
	Timeline                                []TimelineEntry
	TimelineBefore                          time.Time // zero on the last page
	Changes                                 Changes
	PackFields                              []PackField
	PackMore                                int // fields that are not shown
}

// PackField is a field that a pack adds to accounts.
type PackField struct{ Label, Doc, Attr, Value string }

// maxCustomers and maxSupplyPoints limit what a page shows.
const maxCustomers, maxSupplyPoints = 50, 100

// NewPage returns a page with lists of at most so many rows.
func NewPage(facts PageFacts, rows int, options Options) Page {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	options.PartialMasks = true
	all := Facts{Process: facts.Process, Supplier: facts.Supplier, Mails: facts.Mails, Undone: facts.Undone, Refused: facts.Refused}
	page := Page{StateLabel: State(facts.Process.State, facts.Process.Failure != nil)}
	if made := facts.Account; made != nil {
		shown := made.Account
		shown.Data.Customers = shown.Data.Customers[:min(len(shown.Data.Customers), maxCustomers)]
		all.Account = &shown
		page.BalanceText = BalanceWords(made.Balance, made.Data.Currency)
		page.LedgerLength, page.NoteCount = made.LedgerLength, made.NoteCount
		page.StatementCount, page.InstructionCount = made.StatementCount, made.InstructionCount
		page.Pinned, page.Notes = pinnedNotes(made.Pinned, options), convert(made.Notes, func(n landfall.NumberedNote) Note { return newNote(n, options) })
		if last := len(made.Ledger) - 1; last >= 0 && made.Ledger[last].Sequence > 1 {
			page.EntriesBefore = made.Ledger[last].Sequence
		}
		if last := len(made.Notes) - 1; made.MoreNotes {
			page.NotesBefore = landfall.NotePosition{CreatedAt: made.Notes[last].CreatedAt, Index: made.Notes[last].Index}
		}
		if last := len(made.StatementIndexes) - 1; last >= 0 && made.StatementIndexes[last] > 1 {
			page.StatementsBefore = made.StatementIndexes[last]
		}
	}
	page.View = New(all, options)
	if created := page.Account; created != nil {
		page.People, page.SupplyPoints = created.People, created.SupplyPoints[:min(len(created.SupplyPoints), maxSupplyPoints)]
		created.CustomerCount = len(facts.Account.Data.Customers)
	}
	if facts.Account == nil && facts.Staged != nil {
		shown := *facts.Staged
		shown.Customers = shown.Customers[:min(len(shown.Customers), maxCustomers)]
		page.People = newPeople(shown, options)
		points := newSupplyPoints(shown.SupplyAddresses, options)
		page.SupplyPoints = points[:min(len(points), maxSupplyPoints)]
	}
	page.Next, page.Trouble = nextSteps(facts), trouble(facts)
	page.Timeline, page.TimelineBefore = timeline(facts.History, rows)
	page.PackMore = facts.PackMore
	page.PackFields = convert(facts.PackValues, func(v contract.PackValue) PackField {
		return PackField{v.Label, v.Doc, v.Attr, changeValue(v.Value, true, options.Personal || !v.Personal)}
	})
	page.Changes = ChangesBetween(facts.Old, facts.New, options.Personal)
	return page
}

func pinnedNotes(notes []landfall.NumberedNote, options Options) []Note {
	notes = slices.DeleteFunc(slices.Clone(notes), func(n landfall.NumberedNote) bool { return !n.PinnedAt(options.Now) })
	return convert(notes, func(n landfall.NumberedNote) Note { return newNote(n, options) })
}

// symbols are the currencies that have a sign.
var symbols = map[string]string{"GBP": "£", "EUR": "€", "USD": "$"}

// Money writes an amount for people: £1,204.20.
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

// BalanceWords says what a balance means, without a sign that could be misread:
// "owes £120.50" or "£14.20 in credit".
func BalanceWords(balance money.Amount, currency string) string {
	switch {
	case balance > 0:
		return Money(balance, currency) + " in credit"
	case balance < 0:
		return "owes " + Money(balance, currency)
	}
	return "owes nothing"
}
