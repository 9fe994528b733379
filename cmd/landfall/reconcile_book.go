package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/client"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/kit/compare"
	"landfall/internal/lib/spreadsheet"
)

// withBookArguments lets reconcile also take the files of a book, which it compares with a server.
// The arguments decide: suppliers are not named like files.
func withBookArguments(command *cobra.Command) *cobra.Command {
	onSupplier := command.RunE
	order := compare.Options{}
	file := ""
	onServer(command, func(command *cobra.Command, server *client.Client, paths []string) error {
		found, err := book.Open(paths...)
		if err != nil {
			return usageError{err}
		}
		warnOthers(command, found)
		order.Book = found
		return reconcileBook(command, server, order, file)
	})
	onBook := command.RunE
	flags := command.Flags()
	flags.BoolVar(&order.Part, "part", false, "the book is only a part of the supplier's accounts; further accounts on the server are no difference")
	flags.StringVar(&order.Currency, "currency", "GBP", "currency of accounts in the book without one")
	flags.StringVar(&file, "differences", "", "write every difference with its values into this CSV file; it contains personal data")
	flags.BoolVar(&order.FiguresOnly, "figures-only", false, "compare balances and counts, not every field and posting; works with an API key of any role")
	flags.BoolVar(&order.SetTotals, "set-totals", false, "first set the control totals of the book on the server")
	completeFlag(command, "currency", noCompletion)
	command.RunE = func(command *cobra.Command, args []string) error {
		if isBook(command, args) {
			return onBook(command, args)
		}
		// Flags for books are refused and not ignored: the user means a book that does not exist.
		for _, name := range []string{"server", "api-key", "api-key-file", "part", "currency", "differences", "figures-only", "set-totals"} {
			if flags.Changed(name) {
				return usageError{fmt.Errorf("--%s is only for books, and there is no file or folder %s", name, escapeText(args[0]))}
			}
		}
		if len(args) > 1 {
			return usageError{errors.New("name one supplier, or the files of one book")}
		}
		return onSupplier(command, args)
	}
	return command
}

// isBook distinguishes files from suppliers. Flags about the database mean a supplier.
func isBook(command *cobra.Command, args []string) bool {
	for _, name := range []string{"database", "measure", "reason"} {
		if command.Flags().Changed(name) {
			return false
		}
	}
	return slices.ContainsFunc(args, book.IsPath)
}

// maxListed limits the accounts in the JSON output; the file of differences has all of them.
const maxListed = 1000

// reconcileBook uses only the API, so that the user needs no access to the database.
func reconcileBook(command *cobra.Command, server *client.Client, order compare.Options, file string) error {
	// Fail early if the server is unreachable: reading the book may take minutes.
	if err := server.Alive(command.Context()); err != nil {
		return classifyServerError(err)
	}
	// Created before the comparison, to fail early if it exists.
	out, finish, err := differencesFile(file)
	if err != nil {
		return usageError{err}
	}
	var named []compare.Finding
	order.Found = func(one compare.Finding) error {
		// Limited to bound memory.
		if len(named) < maxListed {
			short := one
			short.Differences = slices.Clone(one.Differences[:min(maxShown, len(one.Differences))])
			named = append(named, short)
		}
		return out(one)
	}
	bar := newCommandProgress(command, "")
	order.Progress = func(label string, done int) {
		bar.label = label
		bar.count(done)
	}
	result, err := compare.Compare(command.Context(), server, order)
	bar.clear()
	if errors.Is(err, compare.ErrRole) {
		return errors.Join(usageError{err}, finish())
	}
	// Findings arrive unsorted.
	slices.SortStableFunc(named, func(a, b compare.Finding) int { return cmp.Compare(a.Key.External, b.Key.External) })
	if err = errors.Join(err, finish()); err != nil {
		return classifyServerError(explainInterrupt(err))
	}
	if err := printData(command, comparisonData(result, named), func(out io.Writer) { printComparison(out, result, named, file) }); err != nil {
		return err
	}
	if !result.Agrees() {
		return errDiffers
	}
	return nil
}

// errDiffers is returned when a comparison found differences.
var errDiffers = errors.New("the server differs from the book")

// differencesFile writes findings while they arrive, because there may be a million.
func differencesFile(path string) (add func(compare.Finding) error, finish func() error, err error) {
	if path == "" {
		return func(compare.Finding) error { return nil }, func() error { return nil }, nil
	}
	// Never overwrite a file. It names accounts, so only its owner may read it.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	rows := spreadsheet.NewWriter(file)
	add = func(one compare.Finding) error {
		// A missing account has no differences, but still needs a line.
		if len(one.Differences) == 0 {
			one.Differences = []compare.Difference{{}}
		}
		for _, differs := range one.Differences {
			err := rows.Write(one.Key.Supplier, one.Key.External, one.Number, string(one.State), one.Code,
				differs.Attr, differs.Book, differs.Server, differs.At)
			if err != nil {
				return err
			}
		}
		return nil
	}
	finish = func() error { return errors.Join(rows.Flush(), file.Sync(), file.Close()) }
	return add, finish, rows.Write("import_supplier", "external_account_number", "platform_account_number", "state", "code", "attr", "book", "server", "at")
}

func comparisonData(result compare.Result, named []compare.Finding) any {
	// Only figures have their values here: others may be personal.
	type difference struct {
		Attr   string `json:"attr"`
		At     string `json:"at,omitempty"`
		Book   string `json:"book,omitempty"`
		Server string `json:"server,omitempty"`
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
			shown := difference{Attr: differs.Attr, At: differs.At}
			if differs.Figure {
				shown.Book, shown.Server = differs.Book, differs.Server
			}
			entry.Differences = append(entry.Differences, shown)
		}
		accounts = append(accounts, entry)
	}
	// Every state has a count, also those with none.
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
		"agrees": result.Agrees(), "accounts": counts, "unreadable_lines": result.Unreadable, "given_twice": result.Duplicates,
		"suppliers": suppliers, "different_accounts": accounts,
	}
}

// totalsLines compares the totals of a supplier. Claimed is the book's figure.
func totalsLines(s *compare.Supplier) []contract.ReportLine {
	return contract.ReportLines(landfall.Reconciliation{Rows: s.Rows()}, nil)
}
