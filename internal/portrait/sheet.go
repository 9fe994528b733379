package portrait

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/money"
)

// SheetFacts is what is known of the part of an account somebody looks at.
type SheetFacts struct {
	Process  landfall.Process
	Supplier landfall.Supplier
	Account  *landfall.AccountExcerpt
	Undone   []landfall.UndoneAccount
	Mails    []landfall.MailRecord
	History  landfall.History
	Old, New *landfall.StagedRevision
}

// Sheet is an account on one page, long lists cut to their newest rows.
type Sheet struct {
	Portrait
	Standing string // the state, in the words of the glossary
	InWords  string // what the customer owes, or has
	People   People
	Points   []SupplyPoint
	Pinned   []Note
	Notes    []Note
	// The places that the next pages begin before; 0: this is the last one.
	EntriesBefore, NotesBefore, StatementsBefore int
	LedgerLength, NoteCount, StatementCount      int
	InstructionCount                             int
	Timeline                                     []Moment
	TimelineBefore                               time.Time // zero: there is nothing earlier
	Changes                                      Changes
}

// mostPeople and mostPoints are how many a page shows.
const mostPeople, mostPoints = 50, 100

// SheetOf paints a page. Rows is how long its lists are.
func SheetOf(facts SheetFacts, rows int, options Options) Sheet {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	options.Initials = true
	all := Facts{Process: facts.Process, Supplier: facts.Supplier, Mails: facts.Mails, Undone: facts.Undone}
	sheet := Sheet{Standing: State(facts.Process.State, facts.Process.Failure != nil)}
	if made := facts.Account; made != nil {
		shown := made.Account
		shown.Data.Customers = shown.Data.Customers[:min(len(shown.Data.Customers), mostPeople)]
		all.Account = &shown
		sheet.InWords = InWords(made.Balance, made.Data.Currency)
		sheet.LedgerLength, sheet.NoteCount = made.LedgerLength, made.NoteCount
		sheet.StatementCount, sheet.InstructionCount = made.StatementCount, made.InstructionCount
		sheet.Pinned, sheet.Notes = pinned(made.Pinned, options), each(made.Notes, func(n landfall.PlacedNote) Note { return note(n, options) })
		if last := len(made.Ledger) - 1; last >= 0 && made.Ledger[last].Sequence > 1 {
			sheet.EntriesBefore = made.Ledger[last].Sequence
		}
		if last := len(made.Notes) - 1; last >= 0 && made.Notes[last].Place > 1 {
			sheet.NotesBefore = made.Notes[last].Place
		}
		if last := len(made.StatementPlaces) - 1; last >= 0 && made.StatementPlaces[last] > 1 {
			sheet.StatementsBefore = made.StatementPlaces[last]
		}
	}
	sheet.Portrait = Of(all, options)
	if account := sheet.Account; account != nil {
		sheet.People, sheet.Points = account.People, account.SupplyPoints[:min(len(account.SupplyPoints), mostPoints)]
		account.CustomerCount = len(facts.Account.Data.Customers)
	}
	sheet.Timeline, sheet.TimelineBefore = timeline(facts.History, rows)
	sheet.Changes = ChangesBetween(facts.Old, facts.New, options.Personal)
	return sheet
}

// pinned gives the notes that are on top now.
func pinned(given []landfall.PlacedNote, options Options) []Note {
	given = slices.DeleteFunc(slices.Clone(given), func(n landfall.PlacedNote) bool { return !n.ShownPinned(options.Now) })
	return each(given, func(n landfall.PlacedNote) Note { return note(n, options) })
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

// InWords says what a balance means to the customer, without a sign that is
// read wrongly: £0.40 in the customer's favour.
func InWords(balance money.Amount, currency string) string {
	switch {
	case balance > 0:
		return Money(balance, currency) + " in the customer's favour"
	case balance < 0:
		return "The customer owes " + Money(balance, currency)
	}
	return "Nothing is owed"
}

// Moment is one line of what happened to an account.
type Moment struct {
	At     time.Time
	What   string
	Detail string
	By     string
	Kind   string // "staged", "event" or "audit"
}

// timeline puts everything that happened into one list, the newest first. What
// happened in the same instant stays on one page.
func timeline(history landfall.History, rows int) ([]Moment, time.Time) {
	var all []Moment
	for _, staged := range history.Revisions {
		all = append(all, Moment{At: staged.StagedAt, Kind: "staged", What: "Revision " + itoa(staged.Revision) + " was staged", By: who(staged.By)})
	}
	for _, event := range history.Events {
		all = append(all, Moment{At: event.At, Kind: "event", What: happened(event), Detail: details(event.Details), By: who(event.By)})
	}
	for _, entry := range history.Audit {
		all = append(all, Moment{At: entry.At, Kind: "audit", What: entry.Action, Detail: entry.Detail, By: entry.Actor})
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return b.At.Compare(a.At) })
	end := min(rows, len(all))
	for end > 0 && end < len(all) && all[end].At.Equal(all[end-1].At) {
		end++
	}
	if end == len(all) {
		return all, time.Time{}
	}
	return all[:end], all[end-1].At
}

// sentences say what events mean to a person.
var sentences = map[landfall.EventType]string{
	landfall.EventImportCompleted: "The account was created", landfall.EventImportFailed: "An attempt to create the account failed",
	landfall.EventDryRunCompleted: "A dry run passed", landfall.EventDryRunFailed: "A dry run failed",
	landfall.EventSkipped: "The account was marked as skipped", landfall.EventUnskipped: "The mark was taken away",
	landfall.EventUndone: "The account was taken back", landfall.EventNotesCreated: "Notes were added",
	landfall.EventTransactionsCreated: "Transactions were added", landfall.EventStatementsCreated: "Old statements were added",
	landfall.EventInstructionCreated: "A payment instruction was added",
}

func happened(event landfall.Event) string {
	sentence := cmp.Or(sentences[event.Type], string(event.Type))
	if event.AccountNumber != "" && (event.Type == landfall.EventImportCompleted || event.Type == landfall.EventUndone) {
		sentence += ": " + event.AccountNumber
	}
	return sentence
}

// details writes what an event says, in the same order every time.
func details(said map[string]string) string {
	var parts []string
	for name, value := range said {
		parts = append(parts, name+" "+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func who(by landfall.Author) string {
	if by.KeyID == "" {
		return ""
	}
	return by.Organisation + ", key " + by.KeyID
}
