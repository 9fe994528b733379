package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/console/accountview"
)

// lastEntries is how much of a ledger is shown when nobody asks for all of it.
const lastEntries = 20

// printBooks shows statement periods, the ledger with its running balance, and
// the old supplier's bills.
func printBooks(out io.Writer, account *accountview.Account, whole bool) {
	rows := [][]string{}
	// An open period has no end yet; an empty cell would look like one that was lost.
	for _, period := range account.Periods {
		until := string(period.To)
		if period.Open {
			until = "open"
		}
		rows = append(rows, []string{string(period.From), until, string(period.Balance)})
	}
	section(out, []string{"STATEMENT FROM", "TO", "BALANCE"}, rows)

	// The last entries are what a customer on the telephone asks about.
	hidden := max(0, len(account.Ledger)-lastEntries)
	if whole {
		hidden = 0
	}
	printLedger(out, account.Ledger[hidden:], !account.People.Masked)
	if hidden > 0 {
		fmt.Fprintf(out, "%d earlier entries are not shown; --all shows them\n", hidden)
	}

	rows = [][]string{}
	for _, statement := range account.Statements {
		rows = append(rows, []string{statement.ID, string(statement.From), string(statement.To), string(statement.IssuedOn),
			statement.Number, string(statement.Gross), statement.Document})
	}
	section(out, []string{"OLD STATEMENT", "FROM", "TO", "ISSUED", "NUMBER", "GROSS", "DOCUMENT"}, rows)
}

// printLedger explains moved dates below the table, where a sentence has room.
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
		// What somebody wrote about a payment may be about a person.
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

// printNotes lists the notes; their texts, when they may be seen, stand below
// each, because a table has no room for them.
func printNotes(out io.Writer, notes []accountview.Note) {
	// The portrait has them in order already, those pinned now on top.
	heading := []string{"NOTE", "PINNED", "TEXT", "DOCUMENTS"}
	rows, personal := [][]string{}, false
	for _, note := range notes {
		pinned, size := "", ""
		if note.PinnedNow {
			if pinned = "pinned"; note.UnpinAt != "" {
				pinned += " until " + string(note.UnpinAt)
			}
		}
		// How long a text is tells an empty note from one that is not shown.
		if note.Characters > 0 {
			size = strconv.Itoa(note.Characters) + " characters"
		}
		rows = append(rows, []string{string(note.CreatedAt), pinned, size, strings.Join(note.Documents, " ")})
		personal = personal || note.Body != nil
	}
	if !personal {
		// Without texts one table says it all.
		section(out, heading, rows)
		return
	}
	// A table of its own for each, since printing one cleans its heading in place.
	for i, row := range rows {
		section(out, slices.Clone(heading), [][]string{row})
		if notes[i].Body != nil {
			for line := range strings.Lines(*notes[i].Body) {
				fmt.Fprintln(out, "    "+escapeText(strings.TrimRight(line, "\r\n")))
			}
		}
	}
}

// printPayments shows instructions with what their vendor said, and schedules.
func printPayments(out io.Writer, account *accountview.Account) {
	rows := [][]string{}
	for _, instruction := range account.Instructions {
		rows = append(rows, []string{instruction.Vendor, instruction.Reference, instruction.Type, string(instruction.ValidFrom),
			yesNo(instruction.ForSchedules), instruction.Status, instruction.Scheme, instruction.LastDigits, instruction.Expiry})
	}
	section(out, []string{"VENDOR", "REFERENCE", "TYPE", "VALID FROM", "SCHEDULED", "STATUS", "SCHEME", "LAST DIGITS", "EXPIRY"}, rows)
	rows = [][]string{}
	for _, schedule := range account.Schedules {
		dayOfMonth := ""
		if schedule.DayOfMonth > 0 {
			dayOfMonth = strconv.Itoa(schedule.DayOfMonth)
		}
		rows = append(rows, []string{string(schedule.From), string(schedule.To), schedule.Trigger, string(schedule.Amount),
			schedule.Frequency, dayOfMonth, string(schedule.Threshold)})
	}
	section(out, []string{"PAYMENTS FROM", "TO", "TRIGGER", "AMOUNT", "FREQUENCY", "DAY", "THRESHOLD"}, rows)
}
