package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/console/accountview"
)

// lastEntries is how many ledger entries are shown without --all.
const lastEntries = 20

// printLedgerAndBills prints statement periods, the ledger with its running balance, and the statements of
// the old supplier.
func printLedgerAndBills(out io.Writer, account *accountview.Account, whole bool) {
	section(out, []string{"STATEMENT FROM", "TO", "BALANCE"}, rowsOf(account.Periods, func(period accountview.Period) []string {
		until := string(period.To)
		if period.Open {
			until = "open"
		}
		return []string{string(period.From), until, string(period.Balance)}
	}))

	// Customers on the phone usually ask about the latest entries.
	hidden := max(0, len(account.Ledger)-lastEntries)
	if whole {
		hidden = 0
	}
	printLedger(out, account.Ledger[hidden:], !account.People.Masked)
	if hidden > 0 {
		fmt.Fprintf(out, "%d earlier entries are hidden; use --all to show them\n", hidden)
	}

	section(out, []string{"OLD STATEMENT", "FROM", "TO", "ISSUED", "NUMBER", "GROSS", "DOCUMENT"},
		rowsOf(account.Statements, func(s accountview.Statement) []string {
			return []string{s.ID, string(s.From), string(s.To), string(s.IssuedOn), s.Number, string(s.Gross), s.Document}
		}))
	for _, statement := range account.Statements {
		printPackFields(out, statement.ID+": ", statement.PackFields)
	}
}

// printLedger prints the ledger and, below it, why dates were moved.
func printLedger(out io.Writer, entries []accountview.Entry, personal bool) {
	rows, explained := [][]string{}, []string{}
	for _, entry := range entries {
		on, statement := string(entry.Date), "open"
		if entry.MoveReason != "" {
			on += " (was " + string(entry.OriginalDate) + ")"
			explained = append(explained, fmt.Sprintf("%d: %s", entry.Sequence, entry.MoveReason))
		}
		if entry.Closed {
			statement = "closed"
		}
		row := []string{strconv.Itoa(entry.Sequence), on, entry.Label(), entry.ID, entry.Amount, entry.Balance, statement}
		// Notes on payments may contain personal data.
		if personal {
			row = append(row, entry.Note)
		}
		rows = append(rows, row)
	}
	heading := []string{"LEDGER", "DATE", "WHAT", "TRANSACTION", "AMOUNT", "BALANCE", "STATEMENT"}
	if personal {
		heading = append(heading, "NOTE")
	}
	section(out, heading, rows)
	for _, sentence := range explained {
		fmt.Fprintln(out, sentence)
	}
}

// printNotes lists the notes. Note texts are printed below each note if they may be shown.
func printNotes(out io.Writer, notes []accountview.Note) {
	// The view is already sorted, with currently pinned notes first.
	heading := []string{"NOTE", "PINNED", "TEXT", "DOCUMENTS"}
	identified := slices.ContainsFunc(notes, func(note accountview.Note) bool { return note.ExternalID != "" })
	if identified {
		heading = append(heading, "EXTERNAL ID")
	}
	rows, personal := [][]string{}, false
	for _, note := range notes {
		pinned, size := "", ""
		if note.PinnedNow {
			if pinned = "pinned"; note.UnpinAt != "" {
				pinned += " until " + string(note.UnpinAt)
			}
		}
		// The length distinguishes an empty note from a hidden one.
		if note.Characters > 0 {
			size = strconv.Itoa(note.Characters) + " characters"
		}
		rows = append(rows, []string{string(note.CreatedAt), pinned, size, strings.Join(note.Documents, " ")})
		if identified {
			rows[len(rows)-1] = append(rows[len(rows)-1], note.ExternalID)
		}
		personal = personal || note.Body != nil
	}
	if !personal {
		section(out, heading, rows)
		return
	}
	for i, row := range rows {
		section(out, heading, [][]string{row})
		if notes[i].Body != nil {
			for line := range strings.Lines(*notes[i].Body) {
				fmt.Fprintln(out, "    "+escapeText(strings.TrimRight(line, "\r\n")))
			}
		}
		printPackFields(out, "    ", notes[i].PackFields)
	}
}

// printPackFields prints the fields that packs add to a note or statement.
func printPackFields(out io.Writer, before string, fields accountview.Extra) {
	if len(fields) > 0 {
		fmt.Fprintln(out, escapeText(before+"fields of packs: "+fields.String()))
	}
}

// printPayments prints payment instructions with their vendor's status, and payment schedules.
func printPayments(out io.Writer, account *accountview.Account) {
	section(out, []string{"VENDOR", "REFERENCE", "TYPE", "VALID FROM", "SCHEDULED", "STATUS", "SCHEME", "LAST DIGITS", "EXPIRY"},
		rowsOf(account.Instructions, func(i accountview.Instruction) []string {
			return []string{i.Vendor, i.Reference, i.Type, string(i.ValidFrom), yesNo(i.ForSchedules), i.Status, i.Scheme, i.LastDigits, i.Expiry}
		}))
	section(out, []string{"PAYMENTS FROM", "TO", "TRIGGER", "AMOUNT", "FREQUENCY", "DAY", "THRESHOLD"},
		rowsOf(account.Schedules, func(s accountview.Schedule) []string {
			dayOfMonth := ""
			if s.DayOfMonth > 0 {
				dayOfMonth = strconv.Itoa(s.DayOfMonth)
			}
			return []string{string(s.From), string(s.To), s.Trigger, string(s.Amount), s.Frequency, dayOfMonth, string(s.Threshold)}
		}))
}
