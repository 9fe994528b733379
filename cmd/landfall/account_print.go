package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/calendar"
	"landfall/internal/money"
)

// lastEntries is how much of a ledger is shown when nobody asks for all of it.
const lastEntries = 20

// print shows an account as support reads it: who and how much first, then
// what is supplied, the books, the notes, and at the end how it came to be.
func (a *account) print(out io.Writer) {
	a.printHead(out)
	if a.Account != nil {
		a.printPeople(out)
		a.printSupply(out)
		a.printBooks(out)
		a.printNotes(out)
		a.printPayments(out)
	}
	a.printHistory(out)
}

func (a *account) printHead(out io.Writer) {
	process := a.Process
	pairs := []string{"supplier", process.Key.Supplier, "external number", process.Key.External, "state", string(process.State)}
	if process.AccountNumber != "" {
		pairs = append(pairs, "account", process.AccountNumber, "created", instant(process.AccountCreatedAt))
	}
	if account := a.Account; account != nil {
		pairs = append(pairs, "team", account.Team, "balance", balance(account.Balance, account.Data.Currency),
			"customers", strconv.Itoa(len(account.Data.Customers)),
			"made from", "revision "+strconv.Itoa(account.Revision))
	}
	if process.SkipReason != "" {
		pairs = append(pairs, "skipped because", process.SkipReason)
	}
	if failure := process.Failure; failure != nil {
		attempt := ""
		if failure.DryRun {
			attempt = " (dry run)"
		}
		pairs = append(pairs, "last failure", instant(failure.At)+attempt+" "+failure.Code+": "+failure.Detail)
		for _, violation := range failure.Violations {
			pairs = append(pairs, "", violation.Attr+": "+violation.Code)
		}
	}
	facts(out, pairs...)
}

// balance says in words whose favour an amount is in: signs are read wrongly.
func balance(amount money.Amount, currency string) string {
	switch {
	case amount > 0:
		return amount.String() + " " + currency + ", in the customer's favour"
	case amount < 0:
		return amount.String() + " " + currency + ", the customer owes it"
	}
	return amount.String() + " " + currency
}

func (a *account) printPeople(out io.Writer) {
	if !a.personal {
		return
	}
	rows := [][]string{}
	for _, customer := range a.Account.Data.Customers {
		name := strings.Join(strings.Fields(customer.Title+" "+customer.GivenName+" "+customer.FamilyName), " ")
		rows = append(rows, []string{name, customer.Role, customer.Email, customer.Mobile, customer.Landline, day(customer.BornOn)})
	}
	section(out, []string{"CUSTOMER", "ROLE", "E-MAIL", "MOBILE", "LANDLINE", "BORN"}, rows)
	rows = [][]string{}
	if address := oneLine(a.Account.Data.BillingAddress); address != "" || a.Account.Data.BillingName != "" {
		rows = append(rows, []string{"billing", strings.TrimPrefix(a.Account.Data.BillingName+", "+address, ", ")})
	}
	for i, place := range a.Account.Data.SupplyAddresses {
		rows = append(rows, []string{"supply " + strconv.Itoa(i+1), oneLine(place.Address)})
	}
	section(out, []string{"ADDRESS", "WHERE"}, rows)
}

func oneLine(address landfall.Address) string {
	parts := slices.Concat(address.Lines, []string{address.Locality, address.PostalCode, address.Country})
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

func (a *account) printSupply(out io.Writer) {
	points, agreements, meters := [][]string{}, [][]string{}, [][]string{}
	for i, place := range a.Account.Data.SupplyAddresses {
		for _, point := range place.SupplyPoints {
			points = append(points, []string{point.Identifier, point.SupplyType, "supply " + strconv.Itoa(i+1), day(point.StartOn), day(point.EndOn)})
			for _, agreement := range point.Agreements {
				agreements = append(agreements, []string{point.Identifier, agreement.ProductCode, day(agreement.FromOn), day(agreement.ToOn), instant(agreement.AgreedAt)})
			}
			for _, meter := range point.Meters {
				meters = append(meters, []string{point.Identifier, meter.SerialNumber, day(meter.InstalledOn), day(meter.RemovedOn), readings(meter)})
			}
		}
	}
	section(out, []string{"SUPPLY POINT", "TYPE", "ADDRESS", "FROM", "TO"}, points)
	section(out, []string{"AGREEMENT AT", "PRODUCT", "FROM", "UNTIL", "AGREED"}, agreements)
	section(out, []string{"METER AT", "SERIAL", "INSTALLED", "REMOVED", "READINGS"}, meters)
}

func readings(meter landfall.Meter) string {
	parts := []string{}
	for _, register := range meter.Registers {
		for _, reading := range register.Readings {
			parts = append(parts, strings.TrimSpace(register.ID+" "+day(reading.On)+" "+reading.Value.String()+" "+reading.Type))
		}
	}
	return strings.Join(parts, "; ")
}

func (a *account) printBooks(out io.Writer) {
	rows := [][]string{}
	for _, period := range a.Account.Periods {
		until, closing := "open", ""
		if !period.Open() {
			until, closing = day(period.ToOn), period.Balance.String()
		}
		rows = append(rows, []string{day(period.FromOn), until, closing})
	}
	section(out, []string{"STATEMENT FROM", "TO", "BALANCE"}, rows)

	ledger := a.Account.Ledger
	hidden := max(0, len(ledger)-lastEntries)
	if a.all {
		hidden = 0
	}
	rows = [][]string{}
	for _, entry := range ledger[hidden:] {
		rows = append(rows, a.entryRow(entry))
	}
	heading := []string{"LEDGER", "DATE", "WHAT", "TRANSACTION", "AMOUNT", "BALANCE", "STATEMENT"}
	if a.personal {
		heading = append(heading, "NOTE")
	}
	section(out, heading, rows)
	if hidden > 0 {
		fmt.Fprintf(out, "%d earlier entries are not shown; --all shows them\n", hidden)
	}

	rows = [][]string{}
	for _, statement := range a.Account.Data.Statements {
		gross := ""
		if statement.GrossAmount != nil {
			gross = statement.GrossAmount.String()
		}
		rows = append(rows, []string{statement.ID, day(statement.FromOn), day(statement.ToOn), day(statement.IssuedOn), statement.Number, gross, a.location(statement.Path)})
	}
	section(out, []string{"OLD STATEMENT", "FROM", "TO", "ISSUED", "NUMBER", "GROSS", "DOCUMENT"}, rows)
}

func (a *account) entryRow(entry landfall.LedgerEntry) []string {
	transaction := entry.Transaction
	what, statement := string(entry.Kind), "open"
	if entry.Kind == landfall.TransactionEntry {
		what = strings.TrimSpace(string(transaction.Type) + " " + transaction.Reason)
	}
	if entry.Closed {
		statement = "closed"
	}
	on := day(transaction.On)
	if !transaction.OriginalOn.IsZero() {
		on += " (was " + day(transaction.OriginalOn) + ")"
	}
	row := []string{strconv.Itoa(entry.Sequence), on, what, transaction.ID, entry.Signed.String(), entry.Balance.String(), statement}
	if a.personal {
		row = append(row, transaction.Note)
	}
	return row
}

// location says where a document is expected, and the path when nowhere is.
func (a *account) location(path string) string {
	if path == "" {
		return ""
	}
	if place := a.places.Location(a.Supplier, path); place != "" {
		return place
	}
	return path
}

// notesInOrder gives the notes as support sees them: those pinned now on top,
// and the newest first among equals.
func (a *account) notesInOrder(now time.Time) []landfall.Note {
	notes := slices.Clone(a.Account.Data.Notes)
	slices.SortStableFunc(notes, func(x, y landfall.Note) int {
		if pinned := x.ShownPinned(now); pinned != y.ShownPinned(now) {
			if pinned {
				return -1
			}
			return 1
		}
		return y.CreatedAt.Compare(x.CreatedAt)
	})
	return notes
}

// printNotes lists the notes; their texts, when they may be seen, stand below
// each, because a table has no room for them.
func (a *account) printNotes(out io.Writer) {
	now := time.Now()
	rows, texts := [][]string{}, []string{}
	for _, note := range a.notesInOrder(now) {
		pinned := ""
		if note.ShownPinned(now) {
			if pinned = "pinned"; !note.UnpinAt.IsZero() {
				pinned += " until " + instant(note.UnpinAt)
			}
		}
		size := ""
		if note.HasBody {
			size = strconv.Itoa(utf8.RuneCountInString(note.Body)) + " characters"
		}
		rows = append(rows, []string{instant(note.CreatedAt), pinned, size, strings.Join(each(note.DocumentPaths, a.location), " ")})
		texts = append(texts, note.Body)
	}
	heading := []string{"NOTE", "PINNED", "TEXT", "DOCUMENTS"}
	if !a.personal {
		section(out, heading, rows)
		return
	}
	for i, row := range rows {
		section(out, slices.Clone(heading), [][]string{row})
		for line := range strings.Lines(texts[i]) {
			fmt.Fprintln(out, "    "+clean(strings.TrimRight(line, "\r\n")))
		}
	}
}

func (a *account) printPayments(out io.Writer) {
	rows := [][]string{}
	for _, instruction := range a.Account.Data.Instructions {
		said := instruction.Details
		rows = append(rows, []string{instruction.Vendor, instruction.Reference, instruction.Type, day(instruction.ValidFromOn),
			yesNo(instruction.ForSchedules), said.Status, said.Scheme, said.LastDigits, said.Expiry})
	}
	section(out, []string{"VENDOR", "REFERENCE", "TYPE", "VALID FROM", "SCHEDULED", "STATUS", "SCHEME", "LAST DIGITS", "EXPIRY"}, rows)
	rows = [][]string{}
	for _, schedule := range a.Account.Data.PaymentSchedules {
		amount, threshold, dayOfMonth := "", "", ""
		if schedule.Amount != nil {
			amount = schedule.Amount.String()
		}
		if schedule.Threshold != nil {
			threshold = schedule.Threshold.String()
		}
		if schedule.DayOfMonth > 0 {
			dayOfMonth = strconv.Itoa(schedule.DayOfMonth)
		}
		rows = append(rows, []string{day(schedule.StartOn), day(schedule.EndOn), schedule.Trigger, amount, schedule.Frequency, dayOfMonth, threshold})
	}
	section(out, []string{"PAYMENTS FROM", "TO", "TRIGGER", "AMOUNT", "FREQUENCY", "DAY", "THRESHOLD"}, rows)
}

func (a *account) printHistory(out io.Writer) {
	rows := [][]string{}
	for _, revision := range a.Revisions {
		made := ""
		if a.Account != nil && a.Account.Revision == revision.Revision {
			made = "made from this"
		}
		rows = append(rows, []string{strconv.Itoa(revision.Revision), instant(revision.StagedAt),
			strconv.Itoa(len(revision.Document)), hex.EncodeToString(revision.Hash[:6]), made})
	}
	section(out, []string{"REVISION", "STAGED", "BYTES", "HASH", "ACCOUNT"}, rows)
	rows = [][]string{}
	for _, event := range a.Events {
		details := []string{}
		for _, name := range slices.Sorted(maps.Keys(event.Details)) {
			details = append(details, name+"="+event.Details[name])
		}
		rows = append(rows, []string{string(event.Type), instant(event.At), strings.Join(details, " ")})
	}
	section(out, []string{"EVENT", "AT", "DETAILS"}, rows)
	if a.document && len(a.Revisions) > 0 {
		fmt.Fprintln(out)
		printDocument(out, a.Revisions[len(a.Revisions)-1].Document)
	}
}

// section prints a table under an empty line, and nothing for no rows.
func section(out io.Writer, heading []string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintln(out)
		table(out, heading, rows)
	}
}

// day writes a date, and nothing for none.
func day(on calendar.Day) string {
	if on.IsZero() {
		return ""
	}
	return on.String()
}

// printDocument prints the latest staged data, a line per field.
func printDocument(out io.Writer, document []byte) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		indented.Reset()
		indented.Write(document)
	}
	for line := range strings.Lines(indented.String()) {
		fmt.Fprintln(out, clean(strings.TrimSuffix(line, "\n")))
	}
}
