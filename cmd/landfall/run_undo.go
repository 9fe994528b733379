package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// keptEntry is an account that could not be undone, as JSON.
type keptEntry struct {
	Supplier string `json:"import_supplier"`
	External string `json:"external_account_number"`
	Number   string `json:"platform_account_number,omitempty"`
	Outcome  string `json:"outcome"` // kept or failed
	Reason   string `json:"reason"`
}

// undoSummary is the last line of the JSON output.
type undoSummary struct {
	Run      string                      `json:"run"`
	Created  int                         `json:"created"`
	Undone   int                         `json:"undone"`
	Kept     int                         `json:"kept"`
	Failed   int                         `json:"failed"`
	Reasons  map[landfall.KeptReason]int `json:"kept_because"`
	Complete bool                        `json:"complete"`
}

// runUndo undoes the accounts that a run created. It prints while it works, because a run may be
// large.
func runUndo() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "undo ID", Short: "Undo the accounts that a run created", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(noCompletion),
		Long: "Undo the accounts that a run created, each as account undo does. Accounts that can no\n" +
			"longer be undone are kept and listed with the reason, one per line (with --json one\n" +
			"object per line, and the summary last). You can interrupt the command and run it\n" +
			"again: it continues and ends with the same figures. The run must have ended. The exit\n" +
			"code is 1 if accounts are left.",
		Example: "  landfall run undo R-7K3M9Q2B --reason 'wrong tariffs in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		out, asJSON := command.OutOrStdout(), jsonWanted(command)
		bar := newCommandProgress(command, "undoing")
		watch := operate.RunUndoWatch{Progress: bar.at, Kept: func(kept operate.KeptAccount) error {
			bar.clear() // on a terminal both streams are the same screen
			return printKeptAccount(out, kept, asJSON)
		}}
		undo, err := operator.UndoRun(command.Context(), args[0], reason, watch)
		bar.clear()
		if undo.Run == "" {
			return err // nothing was done
		}
		// Also printed after an interruption: complete is then false.
		if printErr := printUndo(out, undo, err == nil, asJSON); printErr != nil || err != nil {
			return errors.Join(err, printErr)
		}
		if left := undo.Left(); left > 0 {
			return fmt.Errorf("%d of the run's %d accounts are left", left, undo.Created)
		}
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", reasonUsage+" (required)")
	return command
}

// printKeptAccount prints why an account was kept, while others are still being undone.
func printKeptAccount(out io.Writer, kept operate.KeptAccount, asJSON bool) error {
	entry := keptEntry{
		Supplier: kept.Key.Supplier, External: kept.Key.External, Number: kept.Number,
		Outcome: "kept", Reason: string(kept.Kept),
	}
	if kept.Err != nil {
		entry.Outcome, entry.Reason = "failed", errorText(kept.Err)
	}
	if asJSON {
		return printLine(out, entry)
	}
	_, err := fmt.Fprintf(out, "%s  %s  %s\n", escapeText(entry.External), entry.Outcome, escapeText(entry.Reason))
	return err
}

// printUndo prints the totals, and in JSON whether the undo is complete.
func printUndo(out io.Writer, undo operate.RunUndo, complete, asJSON bool) error {
	summary := undoSummary{
		Run: undo.Run, Created: undo.Created, Undone: undo.Undone, Kept: undo.Left() - undo.Failed, Failed: undo.Failed,
		Reasons: undo.Kept, Complete: complete,
	}
	if asJSON {
		return printLine(out, map[string]any{"summary": summary})
	}
	parts := []string{fmt.Sprintf("Run %s: %d of %d accounts undone, %d kept, %d failed", undo.Run, undo.Undone, undo.Created, summary.Kept, undo.Failed)}
	for _, because := range landfall.KeptReasons {
		if count := undo.Kept[because]; count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", because, count))
		}
	}
	_, err := fmt.Fprintln(out, escapeText(strings.Join(parts, "; "))+".")
	return err
}
