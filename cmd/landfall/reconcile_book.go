package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/client"
	"landfall/internal/book"
	"landfall/internal/collate"
	"landfall/internal/operate"
	"landfall/internal/report"
)

// orBook lets a command about a supplier's database take the files of a book as
// well, which it then holds against a server. What is given tells which is
// meant: names of suppliers are not the names of files.
func orBook(command *cobra.Command) *cobra.Command {
	// Kept before onServer puts its own in its place; both are chosen from at the end.
	onSupplier := command.RunE
	order := collate.Order{}
	file := ""
	onServer(command, func(command *cobra.Command, server *client.Client, paths []string) error {
		found, err := book.Open(paths...)
		if err != nil {
			return usageError{err}
		}
		// A file with a mistyped name would make its accounts look as if the book did not have
		// them.
		for _, other := range found.Others {
			warn(command, other+" is no file of a book and was left out")
		}
		order.Book = found
		return reconcileBook(command, server, order, file)
	})
	onBook := command.RunE
	flags := command.Flags()
	flags.BoolVar(&order.Part, "part", false, "the book is not all the supplier has: further accounts on the server are no difference")
	flags.StringVar(&order.Currency, "currency", "GBP", "currency of accounts in the book that name none")
	flags.StringVar(&file, "differences", "", "write every account that is not the same into this CSV file")
	flags.BoolVar(&order.SetTotals, "set-totals", false, "set the control totals of the book on the server first")
	completes(command, "currency", nothing)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if isBook(command, arguments) {
			return onBook(command, arguments)
		}
		// Flags of the other kind are refused and not ignored: who typed them means a book, and
		// its folder is not there.
		for _, name := range []string{"server", "api-key", "api-key-file", "part", "currency", "differences", "set-totals"} {
			if flags.Changed(name) {
				return usageError{fmt.Errorf("--%s is for books, and there is no file or folder %s", name, clean(arguments[0]))}
			}
		}
		if len(arguments) > 1 {
			return usageError{errors.New("one supplier at a time, or the files of one book")}
		}
		return onSupplier(command, arguments)
	}
	return command
}

// isBook tells files from suppliers: a path is one, and so is the name of
// something that is there, unless the flags are about the database.
func isBook(command *cobra.Command, arguments []string) bool {
	// Flags about the database decide first, so that a folder which is called like a supplier
	// cannot come in between.
	for _, name := range []string{"database", "measure", "reason"} {
		if command.Flags().Changed(name) {
			return false
		}
	}
	for _, argument := range arguments {
		if _, err := os.Stat(argument); err == nil || strings.ContainsRune(argument, os.PathSeparator) {
			return true
		}
	}
	return false
}

// mostNamed is how many accounts a machine is told of in one answer; the file of
// differences has all of them.
const mostNamed = 1000

// reconcileBook talks to a server alone, as import does: whoever moved the book need
// not be let near the database.
func reconcileBook(command *cobra.Command, server *client.Client, order collate.Order, file string) error {
	// Somebody who only asks need not wait for a server to come back.
	// Asked once before the book is read, which may take minutes.
	if err := server.Alive(command.Context()); err != nil {
		return serverTrouble(err)
	}
	// The file is made before the comparison: that it exists already is better known now than
	// after an hour.
	out, finish, err := differencesFile(file)
	if err != nil {
		return usageError{err}
	}
	var named []collate.Finding
	order.Found = func(one collate.Finding) error {
		// Bounded for memory's sake alone; the file gets all of them.
		if len(named) < mostNamed {
			named = append(named, one)
		}
		return out(one)
	}
	progress := watched(command, "")
	order.Progress = func(what string, done int) {
		progress.what = what
		progress.count(done)
	}
	result, err := collate.Collate(command.Context(), server, order)
	progress.clear()
	// Findings come in the order in which they were met, which need not be one that people look
	// things up by.
	slices.SortStableFunc(named, func(a, b collate.Finding) int { return cmp.Compare(a.Key.External, b.Key.External) })
	if err = errors.Join(err, finish()); err != nil {
		return serverTrouble(interrupted(err))
	}
	// The comparison is printed in full, and then the exit code says that it differs.
	if err := show(command, collated(result, named), func(out io.Writer) { printCollated(out, result, named, file) }); err != nil {
		return err
	}
	if !result.Agrees() {
		return errDiffers
	}
	return nil
}

// errDiffers ends a comparison that found something.
var errDiffers = errors.New("the server does not have what the book has")

// differencesFile writes findings while they come: there may be a million.
func differencesFile(path string) (add func(collate.Finding) error, finish func() error, err error) {
	if path == "" {
		return func(collate.Finding) error { return nil }, func() error { return nil }, nil
	}
	// Never over a file that is there, and only for its owner: it names accounts.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	rows := csv.NewWriter(file)
	add = func(one collate.Finding) error {
		// An account that is not there at all has no figures, and still gets its line.
		if len(one.Differences) == 0 {
			one.Differences = []collate.Difference{{}}
		}
		for _, differs := range one.Differences {
			err := rows.Write([]string{
				report.Inert(one.Key.Supplier), report.Inert(one.Key.External), one.Number, string(one.State), one.Code,
				differs.What, report.Inert(differs.Book), report.Inert(differs.Server),
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	finish = func() error {
		rows.Flush()
		return errors.Join(rows.Error(), file.Sync(), file.Close())
	}
	return add, finish, rows.Write([]string{
		"import_supplier", "external_account_number", "platform_account_number", "state", "code", "what", "book", "server",
	})
}

// collated is the comparison for machines.
func collated(result collate.Result, named []collate.Finding) any {
	type difference struct {
		What   string `json:"what"`
		Book   string `json:"book"`
		Server string `json:"server"`
	}
	type account struct {
		Supplier    string       `json:"import_supplier"`
		External    string       `json:"external_account_number"`
		Number      string       `json:"platform_account_number"`
		State       string       `json:"state"`
		Code        string       `json:"code"`
		Differences []difference `json:"differences"`
	}
	accounts := []account{}
	for _, one := range named {
		entry := account{one.Key.Supplier, one.Key.External, one.Number, string(one.State), one.Code, []difference{}}
		for _, differs := range one.Differences {
			entry.Differences = append(entry.Differences, difference(differs))
		}
		accounts = append(accounts, entry)
	}
	// Every state has its count, also those with none: machines need not ask whether a member is
	// there.
	counts := map[string]int{}
	for _, state := range collate.States() {
		counts[string(state)] = result.Accounts[state]
	}
	suppliers := []map[string]any{}
	for _, s := range result.Suppliers {
		measures := []map[string]any{}
		for _, line := range measured(s) {
			measures = append(measures, map[string]any{
				"measure": line.Measure, "unit": line.Unit, "book": line.Claimed, "server": line.Created, "difference": line.Difference,
			})
		}
		suppliers = append(suppliers, map[string]any{
			"import_supplier": s.Code, "known": !s.Unknown, "measures": measures, "control_totals": claimsWord(s.Claims),
			"control_totals_differ_in": append([]string{}, s.Claims.Different...),
		})
	}
	return map[string]any{
		"agrees": result.Agrees(), "accounts": counts, "unreadable_lines": result.Unreadable, "given_twice": result.Twice,
		"suppliers": suppliers, "different_accounts": accounts,
	}
}

// measured compares the totals of a supplier: Claimed is the book's.
func measured(s *collate.Supplier) []operate.ReportLine {
	return operate.ReportLines(landfall.Reconciliation{Rows: s.Rows()}, nil)
}

// claimsWord says how the control totals of the book and of the server stand
// to each other.
func claimsWord(claims collate.Claims) string {
	switch {
	case !claims.InBook:
		return "none in the book"
	case !claims.OnServer:
		return "not set"
	case len(claims.Different) > 0:
		return "differ"
	}
	return "same"
}

// meanings say what the states are, for people.
var meanings = map[collate.State]string{
	collate.Same: "there, as the book says", collate.Other: "there; the server says itself what it did otherwise than it was sent",
	collate.Differs: "there, with other figures", collate.Staged: "sent, waiting to be created", collate.Failed: "sent, could not be created",
	collate.Refused: "sent and refused", collate.Skipped: "marked to be skipped", collate.Missing: "not on the server",
	collate.Extra: "on the server, not in the book",
}

// printCollated prints the comparison, and names the first accounts.
func printCollated(out io.Writer, result collate.Result, named []collate.Finding, file string) {
	rows := [][]string{}
	for _, state := range collate.States() {
		// The line of those that are the same is always there, so that an empty book does not
		// print an empty table.
		if count := result.Accounts[state]; count > 0 || state == collate.Same {
			rows = append(rows, []string{string(state), report.Number(count), meanings[state]})
		}
	}
	table(out, []string{"STATE", "ACCOUNTS", "MEANING"}, rows)
	if result.Twice > 0 {
		fmt.Fprintf(out, "%s accounts are in the book twice; the later one counts.\n", report.Number(result.Twice))
	}
	if result.Unreadable > 0 {
		fmt.Fprintf(out, "%s lines of the book cannot be read; 'landfall validate' names them.\n", report.Number(result.Unreadable))
	}
	for _, s := range result.Suppliers {
		printMeasured(out, s)
	}
	printFindings(out, named, result, file)
	if result.Agrees() {
		fmt.Fprintln(out, "\nThe server has what the book has.")
	}
}

// printMeasured prints the figures of one supplier, those that differ marked.
func printMeasured(out io.Writer, s *collate.Supplier) {
	fmt.Fprintln(out)
	if s.Unknown {
		fmt.Fprintf(out, "The server has no import supplier %s, or not for this key.\n", clean(s.Code))
		return
	}
	rows := [][]string{}
	for _, line := range measured(s) {
		rows = append(rows, []string{line.Measure, line.Unit, line.Claimed, line.Created, line.Difference})
	}
	numbers(out, []string{clean(s.Code), "UNIT", "BOOK", "SERVER", "DIFFERENCE"}, rows, 2)
	switch claimsWord(s.Claims) {
	case "not set":
		fmt.Fprintln(out, "The control totals of the book are not set on the server; --set-totals does it.")
	case "differ":
		fmt.Fprintf(out, "The control totals on the server are not those of the book: %s.\n", strings.Join(s.Claims.Different, ", "))
	case "same":
		fmt.Fprintln(out, "The control totals on the server are those of the book.")
	}
}

// printFindings names some of the accounts that differ; all of them are in
// the file.
func printFindings(out io.Writer, named []collate.Finding, result collate.Result, file string) {
	rows := [][]string{}
	for _, one := range named[:min(mostShown, len(named))] {
		var differences []string
		for _, differs := range one.Differences {
			differences = append(differences, differs.What+" "+differs.Book+" in the book, "+differs.Server+" there")
		}
		why := strings.TrimSpace(one.Code + " " + strings.Join(differences, "; "))
		rows = append(rows, []string{one.Key.External, string(one.State), why})
	}
	if len(rows) == 0 {
		return
	}
	all := 0
	for state, count := range result.Accounts {
		if state != collate.Same {
			all += count
		}
	}
	fmt.Fprintln(out)
	table(out, []string{"ACCOUNT", "STATE", "WHY"}, rows)
	// Without a file the way to get one is told; with one it has all of them, also those shown
	// here.
	switch more := all - len(rows); {
	case more > 0 && file == "":
		fmt.Fprintln(out, "and "+strconv.Itoa(more)+" more; --differences FILE writes all of them")
	case file != "":
		fmt.Fprintln(out, "All of them: "+clean(file))
	}
}
