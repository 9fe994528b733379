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
	var flags undoFlags
	command := onDatabase(&cobra.Command{
		Use: "undo ID", Short: "Undo the accounts that a run created", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(noCompletion),
		Long: "Undo the accounts that a run created, each as account undo does, with what came with\n" +
			"the same delivery. Accounts that can no longer be undone are kept and listed with the\n" +
			"reason, one per line (with --json one object per line, and the summary last). You can\n" +
			"interrupt the command and run it again: it continues and ends with the same figures.\n" +
			"The run must have ended. The exit code is 1 if accounts are left.",
		Example: "  landfall run undo R-7K3M9Q2B --preview\n" +
			"  landfall run undo R-7K3M9Q2B --reason 'wrong tariffs in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if flags.preview {
			return previewRunUndo(command, operator, args[0], flags.folder != "")
		}
		archive, err := flags.archive()
		if err != nil {
			return err
		}
		out, asJSON := command.OutOrStdout(), jsonWanted(command)
		bar := newCommandProgress(command, "undoing")
		watch := operate.RunUndoWatch{Progress: bar.at, Archive: archive, Kept: func(kept operate.KeptAccount) error {
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
			return codeError{codeSomeFailed, fmt.Errorf("%d of the run's %d accounts are left", left, undo.Created)}
		}
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", reasonUsage+" (required)")
	flags.add(command)
	return command
}

// previewRunUndo prints what the undo of a run would do: each account that would be kept, and the
// totals.
func previewRunUndo(command *cobra.Command, operator *operate.Operator, id string, allPostings bool) error {
	run, err := operator.UndoableRun(command.Context(), id)
	if err != nil {
		return err
	}
	out, asJSON := command.OutOrStdout(), jsonWanted(command)
	bar := newCommandProgress(command, "counting")
	forecast, err := operator.ForecastUndo(command.Context(), run, allPostings, operate.ForecastWatch{
		Progress: bar.at,
		Kept: func(kept landfall.KeptAccount) error {
			bar.clear()
			if asJSON {
				return printLine(out, keptEntry{kept.Key.Supplier, kept.Key.External, kept.Number, "kept", string(kept.Reason)})
			}
			_, err := fmt.Fprintf(out, "%s  kept  %s\n", escapeText(kept.Key.External), keptText(kept))
			return err
		},
	})
	bar.clear()
	if err != nil {
		return err
	}
	if asJSON {
		return printLine(out, map[string]any{"preview": newForecastEntry(id, forecast)})
	}
	parts := []string{fmt.Sprintf("Run %s: %d of %d accounts would be undone, %d kept, %d already undone", id, forecast.Undoable, run.Tally.Succeeded,
		forecast.AllKept(), forecast.AlreadyUndone)}
	parts = append(parts, reasonTexts(forecast.Kept)...)
	if forecast.Undoable > 0 {
		parts = append(parts, "removed: "+contentText(forecast.Removed))
	}
	_, err = fmt.Fprintln(out, escapeText(strings.Join(parts, "; "))+".")
	return err
}

// reasonTexts counts kept accounts by reason.
func reasonTexts(kept map[landfall.KeptReason]int) (texts []string) {
	for _, because := range landfall.KeptReasons {
		if count := kept[because]; count > 0 {
			texts = append(texts, fmt.Sprintf("%s: %d", because, count))
		}
	}
	return texts
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
	parts = append(parts, reasonTexts(undo.Kept)...)
	_, err := fmt.Fprintln(out, escapeText(strings.Join(parts, "; "))+".")
	return err
}
