package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

type purgeEntry struct {
	Supplier string `json:"import_supplier" table:"SUPPLIER"`
	DryRun   bool   `json:"dry_run"`
	// How many were purged, or would be.
	Documents int `json:"staged_documents" table:"DOCUMENTS"`
	Failures  int `json:"failures" table:"FAILURES"`
	Mails     int `json:"mails" table:"MAILS"`
	Events    int `json:"events" table:"EVENTS"`
	Runs      int `json:"runs" table:"RUNS"`
	// The retention settings.
	KeepStaged   string `json:"keep_staged"`
	KeepFailures string `json:"keep_failures"`
	KeepMails    string `json:"keep_mails"`
	KeepEvents   string `json:"keep_events"`
	KeepRuns     string `json:"keep_runs"`
	// Webhooks that have not received all events yet; their events are not purged.
	HeldBy []string `json:"events_held_by_webhooks,omitempty"`
	// Accounts with a row that could not be read, and its table and column.
	Unreadable []string `json:"unreadable,omitempty"`
}

// purgeCommand purges immediately; servers do the same every six hours.
func purgeCommand() *cobra.Command {
	var dryRun bool
	command := onDatabase(&cobra.Command{
		Use: "purge [SUPPLIER]", Short: "Purge data past its retention", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Purge data that is older than the retention settings of its import supplier\n" +
			"(supplier set --keep-staged, --keep-failures, --keep-mails, --keep-events, --keep-runs),\n" +
			"for one supplier or for all: staged documents, the texts of failures, the recipients of\n" +
			"mails, events that every webhook has received, and the accounts of ended runs. Hashes,\n" +
			"revisions, codes, states, times and totals are kept as evidence. Servers do the same\n" +
			"every six hours. The work is done in small steps and can run next to busy servers.\n" +
			"Purged data cannot be restored. The exit code is 1 if rows cannot be read and were left\n" +
			"as they are.",
		Example: "  landfall purge --dry-run\n  landfall purge NORTH",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.Purge(command.Context(), strings.Join(args, ""), dryRun)
		if err != nil {
			return err
		}
		entries := rowsOf(found, func(one operate.PurgeResult) purgeEntry {
			kept := one.Supplier.Retention
			return purgeEntry{
				one.Supplier.Code, dryRun, one.Gone.Documents, one.Gone.Failures, one.Gone.Mails, one.Gone.Events, one.Gone.Runs,
				formatRetention(kept.Staged), formatRetention(kept.Failures), formatRetention(kept.Mails), formatRetention(kept.Events), formatRetention(kept.Runs),
				one.HeldBy, unreadableNames(one.Unreadable),
			}
		})
		unreadable := 0
		for _, entry := range entries {
			unreadable += len(entry.Unreadable)
		}
		err = printData(command, entries, func(out io.Writer) {
			if len(entries) == 0 {
				fmt.Fprintln(out, "No import supplier has a retention limit. Set one with: supplier set CODE --keep-staged 90d")
				return
			}
			printColumns(out, entries)
			for _, entry := range entries {
				if len(entry.HeldBy) > 0 {
					fmt.Fprintf(out, "Older events of %s are kept until these webhooks have received them or are removed: %s\n",
						entry.Supplier, strings.Join(entry.HeldBy, ", "))
				}
			}
			for _, entry := range entries {
				if len(entry.Unreadable) > 0 {
					fmt.Fprintf(out, "Rows of %s cannot be read and were left as they are; run 'landfall verify': %s\n",
						entry.Supplier, strings.Join(entry.Unreadable, ", "))
				}
			}
			if dryRun {
				fmt.Fprintln(out, "This was a dry run; nothing was purged.")
			}
		})
		if err == nil && unreadable > 0 {
			err = codeError{codeSomeFailed, fmt.Errorf("rows that cannot be read, and were left as they are: %d", unreadable)}
		}
		return err
	})
	command.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be purged, without purging it")
	return command
}

// unreadableNames names accounts with the table and column that cannot be read.
func unreadableNames(rows []landfall.UnreadableRow) (names []string) {
	for _, row := range rows {
		names = append(names, fmt.Sprintf("%s (%s)", row.Key.External, row.Location))
	}
	return names
}
