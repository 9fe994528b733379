package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// undoFlags are the flags of account undo and run undo.
type undoFlags struct {
	preview bool
	folder  string // for all postings
}

func (f *undoFlags) add(command *cobra.Command) {
	command.Flags().BoolVar(&f.preview, "preview", false, "print what would be undone and what would be kept, and change nothing")
	command.Flags().StringVar(&f.folder, "with-all-postings", "",
		"also undo accounts with postings of other deliveries, and first write all postings of the\n"+
			"undone accounts to this folder, in files that can be imported again")
}

// archive opens the folder for postings, if there is one.
func (f *undoFlags) archive() (operate.PostingArchive, error) {
	if f.folder == "" {
		return nil, nil //nolint:nilnil // no archive is wanted
	}
	return openUndoArchive(f.folder)
}

// accountUndo undoes one account. If the account has to be kept, the error code is the reason.
func accountUndo() *cobra.Command {
	var flags undoFlags
	command := onAccount(&cobra.Command{
		Use: "undo SUPPLIER EXTERNAL", Short: "Undo a created account, so that it is staged again",
		Long: "Undo a created account: its data is removed, with everything that came with the same\n" +
			"delivery, and it is staged as before. It keeps its number and has it again when it is\n" +
			"created again. This is possible within the supplier's undo window, as long as nothing\n" +
			"was added to the account from elsewhere and its customers were not notified. Otherwise\n" +
			"the account is kept, the error code is the reason (window_over, has_postings,\n" +
			"account_erased, customers_were_told, delivered) and the exit code is 1. A caller that still\n" +
			"processes the supplier's accounts may create it again at once: pause the supplier\n" +
			"first.",
		Example: "  landfall account undo NORTH 1001 --preview\n" +
			"  landfall account undo NORTH 1001 --reason 'wrong tariff in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		if flags.preview {
			forecast, err := operator.ForecastUndoOf(command.Context(), key, flags.folder != "")
			if err != nil {
				return err
			}
			return printForecast(command, forecast, key.External+" of "+key.Supplier)
		}
		archive, err := flags.archive()
		if err != nil {
			return err
		}
		// No confirmation, unlike erase: the staged data is kept, and the account can be created
		// again.
		outcome, err := operator.UndoWithPostings(command.Context(), key, reason, archive)
		if err != nil {
			return err
		}
		return printDone(command, map[string]string{
			"action": "account.undo", "import_supplier": key.Supplier, "external_account_number": key.External,
			"platform_account_number": outcome.Number, "undone_at": formatTime(outcome.At),
		}, "Account %s of %s is staged again; it keeps the number %s.", key.External, key.Supplier, outcome.Number)
	})
	flags.add(command)
	return command
}

// forecastEntry is the forecast of an undo, as JSON.
type forecastEntry struct {
	Run           string                      `json:"run,omitempty"`
	Undoable      int                         `json:"undoable"`
	Removed       forecastContent             `json:"removed"`
	Kept          int                         `json:"kept"`
	Reasons       map[landfall.KeptReason]int `json:"kept_because"`
	AlreadyUndone int                         `json:"already_undone"`
}

type forecastContent struct {
	Entries      int               `json:"ledger_entries"`
	Notes        int               `json:"notes"`
	Statements   int               `json:"statements"`
	Instructions int               `json:"payment_instructions"`
	Postings     int               `json:"postings"`
	Balances     map[string]string `json:"balances"`
}

func newForecastEntry(run string, forecast landfall.UndoForecast) forecastEntry {
	removed := forecast.Removed
	entry := forecastEntry{
		Run: run, Undoable: forecast.Undoable, Kept: forecast.AllKept(), Reasons: forecast.Kept, AlreadyUndone: forecast.AlreadyUndone,
		Removed: forecastContent{
			Entries: removed.Entries, Notes: removed.Notes, Statements: removed.Statements, Instructions: removed.Instructions,
			Postings: removed.Postings, Balances: map[string]string{},
		},
	}
	for currency, sum := range removed.Balances {
		entry.Removed.Balances[currency] = sum.String()
	}
	return entry
}

// printForecast prints what the undo of one account would do.
func printForecast(command *cobra.Command, forecast landfall.UndoForecast, name string) error {
	return printData(command, newForecastEntry("", forecast), func(out io.Writer) {
		if len(forecast.KeptAccounts) > 0 {
			fmt.Fprintln(out, escapeText(fmt.Sprintf("Account %s would be kept: %s.", name, keptText(forecast.KeptAccounts[0]))))
			return
		}
		fmt.Fprintln(out, escapeText(fmt.Sprintf("Account %s would be undone, with %s.", name, contentText(forecast.Removed))))
	})
}

// keptText says why an account would be kept.
func keptText(kept landfall.KeptAccount) string {
	if kept.Reason != landfall.KeptHasPostings {
		return string(kept.Reason)
	}
	return fmt.Sprintf("%s (%d that did not come with its delivery)", kept.Reason, kept.OtherPostings)
}

// contentText lists what is removed with accounts.
func contentText(content landfall.UndoContent) string {
	var balances []string
	for _, currency := range slices.Sorted(maps.Keys(content.Balances)) {
		balances = append(balances, content.Balances[currency].String()+" "+currency)
	}
	return fmt.Sprintf("%d ledger entries, %d notes, %d statements, %d payment instructions (%d postings) and a balance of %s",
		content.Entries, content.Notes, content.Statements, content.Instructions, content.Postings, strings.Join(balances, " and "))
}
