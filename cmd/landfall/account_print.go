package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/console/accountview"
)

// printAccount shows an account as support reads it: who and how much first,
// then what is supplied, the books, the notes, and at the end how it came to be.
func printAccount(out io.Writer, shown accountview.View, whole bool) {
	printHead(out, shown)
	if account := shown.Account; account != nil {
		printPeople(out, account.People)
		printSupply(out, account.SupplyPoints)
		printBooks(out, account, whole)
		printNotes(out, account.Notes)
		printPayments(out, account)
	}
	printHistory(out, shown)
}

// printHead says first what most people came for: the state, whose favour the
// balance is in, and why the last attempt failed.
func printHead(out io.Writer, shown accountview.View) {
	// Pairs and no fixed lines: what an account does not have is left out and does not stand
	// there empty.
	pairs := []string{"supplier", shown.Supplier, "external number", shown.External, "state", shown.State}
	if shown.AccountNumber != "" {
		pairs = append(pairs, "account", string(shown.AccountNumber), "created", string(shown.AccountCreatedAt))
	}
	if account := shown.Account; account != nil {
		pairs = append(pairs, "team", account.Team, "balance", account.BalanceText,
			"customers", strconv.Itoa(account.CustomerCount), "made from", "revision "+strconv.Itoa(account.Revision))
	}
	// Why it does not get on: an operator kept it back, or its data is wrong.
	if shown.SkipReason != "" {
		pairs = append(pairs, "skipped because", shown.SkipReason)
	}
	if failure := shown.Failure; failure != nil {
		attempt := ""
		if failure.DryRun {
			attempt = " (dry run)"
		}
		pairs = append(pairs, "last failure", string(failure.At)+attempt+" "+failure.Code+": "+failure.Detail)
		// Codes and places without values, which may be personal.
		for _, violation := range failure.Errors {
			pairs = append(pairs, "", violation.Attr+": "+violation.Code)
		}
	}
	printFields(out, pairs...)
}

// printPeople shows masks where it may not show more, and says what they mean.
func printPeople(out io.Writer, people accountview.People) {
	rows := [][]string{}
	for _, customer := range people.Customers {
		rows = append(rows, []string{customer.Name(), customer.Role, customer.Email, customer.Mobile, customer.Landline, customer.BornOn})
	}
	section(out, []string{"CUSTOMER", "ROLE", "E-MAIL", "MOBILE", "LANDLINE", "BORN"}, rows)
	rows = [][]string{}
	// The name on the bill may stand without an address, and the other way round.
	if people.BillingAddress != "" || people.BillingName != "" {
		rows = append(rows, []string{"billing", strings.TrimPrefix(people.BillingName+", "+people.BillingAddress, ", ")})
	}
	for i, place := range people.SupplyAddresses {
		rows = append(rows, []string{"supply " + strconv.Itoa(i+1), place})
	}
	section(out, []string{"ADDRESS", "WHERE"}, rows)
	if people.Masked {
		fmt.Fprintln(out, "*** is there but not shown; --personal shows it")
	}
}

// printSupply spreads the tree of points, agreements and meters over three
// tables, each naming its point: a tree does not fit a terminal.
func printSupply(out io.Writer, supplied []accountview.SupplyPoint) {
	points, agreements, meters := [][]string{}, [][]string{}, [][]string{}
	for _, point := range supplied {
		points = append(points, []string{point.Identifier, point.SupplyType, "supply " + strconv.Itoa(point.Address), string(point.From), string(point.To)})
		for _, agreement := range point.Agreements {
			agreements = append(agreements, []string{point.Identifier, agreement.ProductCode,
				string(agreement.From), string(agreement.Until), string(agreement.AgreedAt)})
		}
		for _, meter := range point.Meters {
			meters = append(meters, []string{point.Identifier, meter.SerialNumber, string(meter.Installed), string(meter.Removed), formatReadings(meter)})
		}
	}
	section(out, []string{"SUPPLY POINT", "TYPE", "ADDRESS", "FROM", "TO"}, points)
	section(out, []string{"AGREEMENT AT", "PRODUCT", "FROM", "UNTIL", "AGREED"}, agreements)
	section(out, []string{"METER AT", "SERIAL", "INSTALLED", "REMOVED", "READINGS"}, meters)
}

// formatReadings puts all readings of a meter into one cell; most have one.
func formatReadings(meter accountview.Meter) string {
	parts := []string{}
	for _, register := range meter.Registers {
		// Fields takes out the gaps that missing parts leave, since a reading need not have a
		// type.
		for _, reading := range register.Readings {
			parts = append(parts, strings.Join(strings.Fields(register.ID+" "+string(reading.Date)+" "+reading.Value+" "+reading.Type), " "))
		}
	}
	return strings.Join(parts, "; ")
}

// printHistory tells how the account came to be: what was staged when, and what
// happened since. A dozen digits of a hash are enough to compare by eye.
func printHistory(out io.Writer, shown accountview.View) {
	rows := [][]string{}
	for _, revision := range shown.Revisions {
		made := ""
		if revision.CreatedAccount {
			made = "made from this"
		}
		rows = append(rows, []string{strconv.Itoa(revision.Revision), string(revision.StagedAt),
			strconv.Itoa(revision.Bytes), revision.SHA256[:12], made, formatAuthor(revision.By)})
	}
	section(out, []string{"REVISION", "STAGED", "BYTES", "HASH", "ACCOUNT", "BY"}, rows)
	rows = [][]string{}
	for _, gone := range shown.UndoneAccounts {
		rows = append(rows, []string{gone.AccountNumber, string(gone.CreatedAt), string(gone.UndoneAt), gone.Actor, gone.Reason})
	}
	section(out, []string{"TAKEN BACK", "CREATED", "UNDONE", "BY", "REASON"}, rows)
	rows = [][]string{}
	for _, event := range shown.Events {
		// Sorted, so that two runs print the same.
		details := []string{}
		for _, name := range slices.Sorted(maps.Keys(event.Details)) {
			details = append(details, name+"="+event.Details[name])
		}
		rows = append(rows, []string{event.Type, string(event.At), strings.Join(details, " "), formatAuthor(event.By)})
	}
	section(out, []string{"EVENT", "AT", "DETAILS", "BY"}, rows)
	rows = [][]string{}
	for _, mail := range shown.Mails {
		rows = append(rows, mailRow(mail))
	}
	section(out, mailHeading, rows)
	// The latest document alone: people look for what counts now, and machines
	// get all of them.
	if last := len(shown.Revisions) - 1; last >= 0 && shown.Revisions[last].Document != nil {
		fmt.Fprintln(out)
		printDocument(out, shown.Revisions[last].Document)
	}
}

// formatAuthor says whose key wrote something, and in which request.
func formatAuthor(by *accountview.Author) string {
	if by == nil {
		return ""
	}
	return by.Organisation + ", key " + by.Key + ", request " + by.RequestID
}

// section prints a table under an empty line, and nothing for no rows.
func section(out io.Writer, heading []string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintln(out)
		printTable(out, heading, rows)
	}
}

// printDocument prints the latest staged data, a line per field.
func printDocument(out io.Writer, document []byte) {
	var indented bytes.Buffer
	// What was staged is JSON; should it ever not be, it is shown all the same.
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		indented.Reset()
		indented.Write(document)
	}
	for line := range strings.Lines(indented.String()) {
		fmt.Fprintln(out, escapeText(strings.TrimSuffix(line, "\n")))
	}
}
