package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/kit/compare"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
)

// withBookArguments lets a command about a supplier's database take the files of a book as
// well, which it then holds against a server. What is given tells which is
// meant: names of suppliers are not the names of files.
func withBookArguments(command *cobra.Command) *cobra.Command {
	// Kept before onServer puts its own in its place; both are chosen from at the end.
	onSupplier := command.RunE
	order := compare.Order{}
	file := ""
	onServer(command, func(command *cobra.Command, server *client.Client, paths []string) error {
		found, err := book.Open(paths...)
		if err != nil {
			return usageError{err}
		}
		// A file with a mistyped name would make its accounts look as if the book did not have
		// them.
		for _, other := range found.Others {
			printWarning(command, other+" is no file of a book and was left out")
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
	completeFlag(command, "currency", noCompletion)
	command.RunE = func(command *cobra.Command, args []string) error {
		if isBook(command, args) {
			return onBook(command, args)
		}
		// Flags of the other kind are refused and not ignored: who typed them means a book, and
		// its folder is not there.
		for _, name := range []string{"server", "api-key", "api-key-file", "part", "currency", "differences", "set-totals"} {
			if flags.Changed(name) {
				return usageError{fmt.Errorf("--%s is for books, and there is no file or folder %s", name, escapeText(args[0]))}
			}
		}
		if len(args) > 1 {
			return usageError{errors.New("one supplier at a time, or the files of one book")}
		}
		return onSupplier(command, args)
	}
	return command
}

// isBook tells files from suppliers: a path is one, and so is the name of
// something that is there, unless the flags are about the database.
func isBook(command *cobra.Command, args []string) bool {
	// Flags about the database decide first, so that a folder which is called like a supplier
	// cannot come in between.
	for _, name := range []string{"database", "measure", "reason"} {
		if command.Flags().Changed(name) {
			return false
		}
	}
	for _, argument := range args {
		if _, err := os.Stat(argument); err == nil || strings.ContainsRune(argument, os.PathSeparator) {
			return true
		}
	}
	return false
}

// maxListed is how many accounts a machine is told of in one answer; the file of
// differences has all of them.
const maxListed = 1000

// reconcileBook talks to a server alone, as import does: whoever moved the book need
// not be let near the database.
func reconcileBook(command *cobra.Command, server *client.Client, order compare.Order, file string) error {
	// Somebody who only asks need not wait for a server to come back.
	// Asked once before the book is read, which may take minutes.
	if err := server.Alive(command.Context()); err != nil {
		return classifyServerError(err)
	}
	// The file is made before the comparison: that it exists already is better known now than
	// after an hour.
	out, finish, err := differencesFile(file)
	if err != nil {
		return usageError{err}
	}
	var named []compare.Finding
	order.Found = func(one compare.Finding) error {
		// Bounded for memory's sake alone; the file gets all of them.
		if len(named) < maxListed {
			named = append(named, one)
		}
		return out(one)
	}
	progress := newCommandProgress(command, "")
	order.Progress = func(what string, done int) {
		progress.what = what
		progress.count(done)
	}
	result, err := compare.Collate(command.Context(), server, order)
	progress.clear()
	// Findings come in the order in which they were met, which need not be one that people look
	// things up by.
	slices.SortStableFunc(named, func(a, b compare.Finding) int { return cmp.Compare(a.Key.External, b.Key.External) })
	if err = errors.Join(err, finish()); err != nil {
		return classifyServerError(explainInterrupt(err))
	}
	// The comparison is printed in full, and then the exit code says that it differs.
	if err := printData(command, comparisonData(result, named), func(out io.Writer) { printComparison(out, result, named, file) }); err != nil {
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
func differencesFile(path string) (add func(compare.Finding) error, finish func() error, err error) {
	if path == "" {
		return func(compare.Finding) error { return nil }, func() error { return nil }, nil
	}
	// Never over a file that is there, and only for its owner: it names accounts.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	rows := csv.NewWriter(file)
	add = func(one compare.Finding) error {
		// An account that is not there at all has no figures, and still gets its line.
		if len(one.Differences) == 0 {
			one.Differences = []compare.Difference{{}}
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

// comparisonData is the comparison for machines.
func comparisonData(result compare.Result, named []compare.Finding) any {
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
	for _, state := range compare.States() {
		counts[string(state)] = result.Accounts[state]
	}
	suppliers := []map[string]any{}
	for _, s := range result.Suppliers {
		measures := []map[string]any{}
		for _, line := range totalsLines(s) {
			measures = append(measures, map[string]any{
				"measure": line.Measure, "unit": line.Unit, "book": line.Claimed, "server": line.Created, "difference": line.Difference,
			})
		}
		suppliers = append(suppliers, map[string]any{
			"import_supplier": s.Code, "known": !s.Unknown, "measures": measures, "control_totals": claimsState(s.Claims),
			"control_totals_differ_in": append([]string{}, s.Claims.Different...),
		})
	}
	return map[string]any{
		"agrees": result.Agrees(), "accounts": counts, "unreadable_lines": result.Unreadable, "given_twice": result.Twice,
		"suppliers": suppliers, "different_accounts": accounts,
	}
}

// totalsLines compares the totals of a supplier: Claimed is the book's.
func totalsLines(s *compare.Supplier) []operate.ReportLine {
	return operate.ReportLines(landfall.Reconciliation{Rows: s.Rows()}, nil)
}
