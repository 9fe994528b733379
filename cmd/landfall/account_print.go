package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/console/accountview"
)

// printAccount prints an account for support: status and balance first, then customers, supply,
// books, notes, payments and the history.
func printAccount(out io.Writer, shown accountview.View, whole bool) {
	printHead(out, shown)
	if account := shown.Account; account != nil {
		printPeople(out, account.People)
		printSupply(out, account.SupplyPoints)
		printLedgerAndBills(out, account, whole)
		printNotes(out, account.Notes)
		printPayments(out, account)
	}
	printHistory(out, shown)
}

// printHead prints what most readers look for first: the state, the balance and the last failure.
func printHead(out io.Writer, shown accountview.View) {
	// Only fields that the account has are printed.
	pairs := []string{"supplier", shown.Supplier, "external number", shown.External, "state", shown.State}
	if shown.AccountNumber != "" {
		pairs = append(pairs, "account", string(shown.AccountNumber), "created", string(shown.AccountCreatedAt))
	}
	if account := shown.Account; account != nil {
		pairs = append(pairs, "team", account.Team, "balance", account.BalanceText,
			"customers", strconv.Itoa(account.CustomerCount), "created from", "revision "+strconv.Itoa(account.Revision))
	}
	if shown.SkipReason != "" {
		pairs = append(pairs, "skipped because", shown.SkipReason)
	}
	if failure := shown.Failure; failure != nil {
		attempt := ""
		if failure.DryRun {
			attempt = " (dry run)"
		}
		pairs = append(pairs, "last failure", string(failure.At)+attempt+" "+failure.Code+": "+failure.Detail)
		// Codes and attrs without values, which may be personal.
		for _, violation := range failure.Errors {
			pairs = append(pairs, "", violation.Attr+": "+violation.Code)
		}
	}
	for _, refused := range shown.RefusedPostings {
		if refused.Posting == string(landfall.PostingAccount) {
			pairs = append(pairs, "delivered again", string(refused.At)+", with other values; not changed")
			for _, violation := range refused.Errors {
				pairs = append(pairs, "", violation.Attr)
			}
			continue
		}
		pairs = append(pairs, "refused "+strings.ToLower(refused.Posting), string(refused.At)+" "+refused.Code)
		for _, violation := range refused.Errors {
			pairs = append(pairs, "", violation.Attr+": "+violation.Code)
		}
	}
	printFields(out, pairs...)
}

// printPeople prints customers and addresses, masked unless personal data may be shown.
func printPeople(out io.Writer, people accountview.People) {
	section(out, []string{"CUSTOMER", "ROLE", "E-MAIL", "MOBILE", "LANDLINE", "BORN"},
		rowsOf(people.Customers, func(c accountview.Customer) []string {
			return []string{c.Name(), c.Role, c.Email, c.Mobile, c.Landline, c.BornOn}
		}))
	rows := [][]string{}
	// A billing name may come without an address, and an address without a name.
	if people.BillingAddress != "" || people.BillingName != "" {
		rows = append(rows, []string{"billing", strings.TrimPrefix(people.BillingName+", "+people.BillingAddress, ", ")})
	}
	for i, address := range people.SupplyAddresses {
		rows = append(rows, []string{"supply " + strconv.Itoa(i+1), address})
	}
	section(out, []string{"ADDRESS", "WHERE"}, rows)
	if people.Masked {
		fmt.Fprintln(out, "*** means hidden; use --personal to show it")
	}
}

// printSupply prints supply points, agreements and meters as three tables that refer to the point.
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

// formatReadings puts all readings of a meter into one cell; most meters have one.
func formatReadings(meter accountview.Meter) string {
	parts := []string{}
	for _, register := range meter.Registers {
		// Fields drops the gaps of missing parts, such as a reading without a type.
		for _, reading := range register.Readings {
			parts = append(parts, strings.Join(strings.Fields(register.ID+" "+string(reading.Date)+" "+reading.Value+" "+reading.Type), " "))
		}
	}
	return strings.Join(parts, "; ")
}

// printHistory prints revisions, undone accounts, events and mails. Twelve digits of a hash are
// enough to compare by eye.
func printHistory(out io.Writer, shown accountview.View) {
	section(out, []string{"REVISION", "STAGED", "BYTES", "HASH", "ACCOUNT", "BY"},
		rowsOf(shown.Revisions, func(revision accountview.Revision) []string {
			created := ""
			if revision.CreatedAccount {
				created = "created from this"
			}
			return []string{strconv.Itoa(revision.Revision), string(revision.StagedAt),
				strconv.Itoa(revision.Bytes), revision.SHA256[:12], created, formatAuthor(revision.By)}
		}))
	section(out, []string{"UNDONE ACCOUNT", "CREATED", "UNDONE", "BY", "REASON"},
		rowsOf(shown.UndoneAccounts, func(undone accountview.UndoneAccount) []string {
			return []string{undone.AccountNumber, string(undone.CreatedAt), string(undone.UndoneAt), undone.Actor, undone.Reason}
		}))
	section(out, []string{"EVENT", "AT", "DETAILS", "BY"},
		rowsOf(shown.Events, func(event accountview.Event) []string {
			return []string{event.Type, string(event.At), strings.Join(sortedPairs(event.Details), " "), formatAuthor(event.By)}
		}))
	section(out, mailHeading, rowsOf(shown.Mails, mailRow))
	// Only the latest document is printed; the JSON output contains all of them.
	if last := len(shown.Revisions) - 1; last >= 0 && shown.Revisions[last].Document != nil {
		fmt.Fprintln(out)
		printDocument(out, shown.Revisions[last].Document)
	}
}

// formatAuthor names the key and the request that wrote something.
func formatAuthor(by *accountview.Author) string {
	if by == nil {
		return ""
	}
	return by.Organisation + ", key " + by.Key + ", request " + by.RequestID
}

// section prints a table after an empty line, and nothing if there are no rows.
func section(out io.Writer, heading []string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintln(out)
		printTable(out, heading, rows)
	}
}

// printDocument prints the latest staged document, one line per field.
func printDocument(out io.Writer, document []byte) {
	var indented bytes.Buffer
	// Staged documents are JSON; if one ever is not, it is printed as it is.
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		indented.Reset()
		indented.Write(document)
	}
	for line := range strings.Lines(indented.String()) {
		fmt.Fprintln(out, escapeText(strings.TrimSuffix(line, "\n")))
	}
}
