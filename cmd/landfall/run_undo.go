package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// remnantEntry is an account of a run that was not taken back, for machines.
type remnantEntry struct {
	Supplier string `json:"import_supplier"`
	External string `json:"external_account_number"`
	Number   string `json:"platform_account_number,omitempty"`
	Outcome  string `json:"outcome"` // kept or failed
	Reason   string `json:"reason"`
}

// undoSummary is the last line of a run's undo, for machines.
type undoSummary struct {
	Run      string                      `json:"run"`
	Created  int                         `json:"created"`
	Undone   int                         `json:"undone"`
	Kept     int                         `json:"kept"`
	Failed   int                         `json:"failed"`
	Reasons  map[landfall.KeptReason]int `json:"kept_because"`
	Complete bool                        `json:"complete"`
}

// runUndo takes back what a run created. It prints while it works: what is
// left is one line each, and a run may be large.
func runUndo() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "undo ID", Short: "Take back the accounts that a run created", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(noCompletion),
		Long: "Take back the accounts that a run created, each as account undo does. What\n" +
			"cannot be taken back any more is kept and named with the reason, one per line\n" +
			"(with --json one object per line, and the summary last). It may be interrupted\n" +
			"at any time and run again: it goes on where it was and ends with the same\n" +
			"figures. The run must have ended. The exit code is 1 when accounts are left.",
		Example: "  landfall run undo R-7K3M9Q2B --reason 'wrong tariffs in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		out, machine := command.OutOrStdout(), jsonWanted(command)
		bar := newProgressPrinter(command.ErrOrStderr(), "taking back")
		watch := operate.RunUndoWatch{Remnant: func(remnant operate.RunRemnant) error {
			// The bar is on standard error, but on a terminal both are the same screen.
			bar.clear()
			return printRemnant(out, remnant, machine)
		}}
		if !machine {
			watch.Progress = bar.at
		}
		undo, err := operator.UndoRun(command.Context(), args[0], reason, watch)
		bar.clear()
		// Nothing was begun, so there are no figures to print.
		if undo.Run == "" {
			return err // it never began
		}
		// Figures are printed also after an interruption: they say how far it came, and complete
		// is false.
		if told := printUndo(out, undo, err == nil, machine); told != nil || err != nil {
			return errors.Join(err, told)
		}
		// Accounts that are left are the reason to look, so the exit code is 1 even though
		// nothing went wrong.
		if left := undo.Left(); left > 0 {
			return fmt.Errorf("%d of the run's %d accounts are left", left, undo.Created)
		}
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good (required)")
	return command
}

// printRemnant says why one account was kept, while the others are still
// being undone.
func printRemnant(out io.Writer, remnant operate.RunRemnant, machine bool) error {
	entry := remnantEntry{
		Supplier: remnant.Key.Supplier, External: remnant.Key.External, Number: remnant.Number,
		Outcome: "kept", Reason: string(remnant.Kept),
	}
	if remnant.Err != nil {
		entry.Outcome, entry.Reason = "failed", errorText(remnant.Err)
	}
	if machine {
		return printLine(out, entry)
	}
	_, err := fmt.Fprintf(out, "%s  %s  %s\n", escapeText(entry.External), entry.Outcome, escapeText(entry.Reason))
	return err
}

// printUndo says what it came to, and in JSON whether it came to its end.
func printUndo(out io.Writer, undo operate.RunUndo, complete, machine bool) error {
	summary := undoSummary{
		Run: undo.Run, Created: undo.Created, Undone: undo.Undone, Kept: undo.Left() - undo.Failed, Failed: undo.Failed,
		Reasons: undo.Kept, Complete: complete,
	}
	if machine {
		return printLine(out, map[string]any{"summary": summary})
	}
	parts := []string{fmt.Sprintf("Run %s: %d of %d accounts taken back, %d kept, %d failed", undo.Run, undo.Undone, undo.Created, summary.Kept, undo.Failed)}
	// In the order of the list and not of the map, so that the same undo prints the same line.
	for _, because := range landfall.KeptReasons {
		if count := undo.Kept[because]; count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", because, count))
		}
	}
	_, err := fmt.Fprintln(out, escapeText(strings.Join(parts, "; "))+".")
	return err
}

// printLine writes one object on a line of its own.
func printLine(out io.Writer, data any) error {
	line, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintln(out, escapeJSON(string(line)))
	}
	return err
}
