package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

// purgeEntry is what went of a supplier, for machines.
type purgeEntry struct {
	Supplier string `json:"import_supplier"`
	DryRun   bool   `json:"dry_run"`
	// How many went, or would go.
	Documents int `json:"staged_documents"`
	Failures  int `json:"failures"`
	Mails     int `json:"mails"`
	Events    int `json:"events"`
	// The settings that decided it, so that a surprise explains itself.
	KeepStaged   string `json:"keep_staged"`
	KeepFailures string `json:"keep_failures"`
	KeepMails    string `json:"keep_mails"`
	KeepEvents   string `json:"keep_events"`
	// Webhooks that are behind: nothing they have not received goes.
	HeldBy []string `json:"events_held_by_webhooks,omitempty"`
}

// purgeCommand does at once what servers do now and then.
func purgeCommand() *cobra.Command {
	var dryRun bool
	command := onDatabase(&cobra.Command{
		Use: "purge [SUPPLIER]", Short: "Take away what was kept long enough", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Take away what was kept for longer than the settings of import suppliers say\n" +
			"(supplier set --keep-staged, --keep-failures, --keep-mails, --keep-events), of\n" +
			"one or of all: staged documents, the words of failures, whom mails went to, and\n" +
			"events that every webhook has received. Hashes, revisions, codes, states and\n" +
			"times stay, so that one still sees that something was there. Servers do\n" +
			"the same every six hours. It goes in small steps and may run beside servers\n" +
			"under load; what is gone cannot be brought back.",
		Example: "  landfall purge --dry-run\n  landfall purge NORTH",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		code := ""
		if len(args) > 0 {
			code = args[0]
		}
		found, err := operator.Purge(command.Context(), code, dryRun)
		if err != nil {
			return err
		}
		// Both are made even where nothing went: machines get a list and no null.
		entries, rows := []purgeEntry{}, [][]string{}
		for _, one := range found {
			kept := one.Supplier.Retention
			entries = append(entries, purgeEntry{
				one.Supplier.Code, dryRun, one.Gone.Documents, one.Gone.Failures, one.Gone.Mails, one.Gone.Events,
				formatRetention(kept.Staged), formatRetention(kept.Failures), formatRetention(kept.Mails), formatRetention(kept.Events), one.HeldBy,
			})
			rows = append(rows, []string{
				one.Supplier.Code, strconv.Itoa(one.Gone.Documents), strconv.Itoa(one.Gone.Failures), strconv.Itoa(one.Gone.Mails),
				strconv.Itoa(one.Gone.Events),
			})
		}
		return printData(command, entries, func(out io.Writer) {
			// No supplier keeps anything for a limited time; an empty table would look as if
			// something were wrong.
			if len(rows) == 0 {
				fmt.Fprintln(out, "Every import supplier keeps everything for ever. Change that with: supplier set CODE --keep-staged 90d")
				return
			}
			printTable(out, []string{"SUPPLIER", "DOCUMENTS", "FAILURES", "MAILS", "EVENTS"}, rows)
			for _, one := range found {
				if len(one.HeldBy) > 0 {
					fmt.Fprintf(out, "Older events of %s stay until these webhooks have received them or are removed: %s\n",
						one.Supplier.Code, strings.Join(one.HeldBy, ", "))
				}
			}
			if dryRun {
				fmt.Fprintln(out, "So much would go. Nothing was taken away.")
			}
		})
	})
	command.Flags().BoolVar(&dryRun, "dry-run", false, "say what would go, and take nothing away")
	return command
}
