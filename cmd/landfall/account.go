package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/operate"
)

func accountCommand() *cobra.Command {
	return group("account", "Account import processes", accountShow(), accountSkip(), accountUnskip())
}

func accountSkip() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "skip SUPPLIER EXTERNAL", Short: "Mark an account so that it is neither staged nor created", Args: usage(cobra.ExactArgs(2)),
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		key := landfall.Key{Supplier: arguments[0], External: arguments[1]}
		if err := operator.Skip(command.Context(), key, reason); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Account %s of %s is marked as skipped.\n", clean(key.External), clean(key.Supplier))
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	return command
}

func accountUnskip() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "unskip SUPPLIER EXTERNAL", Short: "Take the mark away", Args: usage(cobra.ExactArgs(2)),
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		key := landfall.Key{Supplier: arguments[0], External: arguments[1]}
		if err := operator.Unskip(command.Context(), key, reason); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Account %s of %s is not marked any more.\n", clean(key.External), clean(key.Supplier))
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	return command
}

// history is all that is known about one process.
type history struct {
	process   landfall.Process
	revisions []landfall.StagedRevision
	events    []landfall.Event
}

func accountShow() *cobra.Command {
	var document bool
	command := onStore(listing(&cobra.Command{
		Use: "show SUPPLIER EXTERNAL", Short: "Show an account import process with its history", Args: usage(cobra.ExactArgs(2)),
	}), func(command *cobra.Command, store landfall.Store, arguments []string) error {
		found, err := readHistory(command, store, landfall.Key{Supplier: arguments[0], External: arguments[1]})
		if err != nil {
			return err
		}
		return show(command, newProcessEntry(found, document), func(out io.Writer) { printHistory(out, found, document) })
	})
	command.Flags().BoolVar(&document, "document", false, "print the staged data too, personal data and all")
	return command
}

func readHistory(command *cobra.Command, store landfall.Store, key landfall.Key) (history, error) {
	ctx := command.Context()
	var found history
	err := store.View(ctx, func(view landfall.View) error {
		var err error
		if found.process, err = view.Process(ctx, key); err != nil {
			return err
		}
		if found.revisions, err = view.Revisions(ctx, key); err != nil {
			return err
		}
		found.events, err = view.Events(ctx, key)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return found, landfall.Refuse(landfall.CodeAccountNotFound,
			fmt.Sprintf("No account %q was ever staged for supplier %q.", key.External, key.Supplier))
	}
	return found, err
}

// processEntry is a process for machines.
type processEntry struct {
	Supplier         string          `json:"import_supplier"`
	External         string          `json:"external_account_number"`
	State            string          `json:"state"`
	AccountNumber    *string         `json:"platform_account_number"`
	AccountCreatedAt *string         `json:"account_created_at"`
	SkipReason       string          `json:"skip_reason,omitempty"`
	Failure          *failureEntry   `json:"last_failure,omitempty"`
	Revisions        []revisionEntry `json:"revisions"`
	Events           []eventEntry    `json:"events"`
}

type failureEntry struct {
	At     string `json:"at"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	DryRun bool   `json:"dry_run"`
}

type revisionEntry struct {
	Revision int             `json:"revision"`
	StagedAt string          `json:"staged_at"`
	SHA256   string          `json:"sha256"`
	Bytes    int             `json:"bytes"`
	Document json.RawMessage `json:"document,omitempty"`
}

type eventEntry struct {
	At      string            `json:"at"`
	Type    string            `json:"type"`
	Details map[string]string `json:"details,omitempty"`
}

func newProcessEntry(found history, document bool) processEntry {
	process := found.process
	entry := processEntry{
		Supplier: process.Key.Supplier, External: process.Key.External, State: string(process.State),
		AccountCreatedAt: nullable(process.AccountCreatedAt), SkipReason: process.SkipReason,
		Revisions: []revisionEntry{}, Events: []eventEntry{},
	}
	if process.AccountNumber != "" {
		entry.AccountNumber = &process.AccountNumber
	}
	if failure := process.Failure; failure != nil {
		entry.Failure = &failureEntry{instant(failure.At), failure.Code, failure.Detail, failure.DryRun}
	}
	for _, revision := range found.revisions {
		one := revisionEntry{Revision: revision.Revision, StagedAt: instant(revision.StagedAt),
			SHA256: hex.EncodeToString(revision.Hash[:]), Bytes: len(revision.Document)}
		if document {
			one.Document = revision.Document
		}
		entry.Revisions = append(entry.Revisions, one)
	}
	for _, event := range found.events {
		entry.Events = append(entry.Events, eventEntry{instant(event.At), string(event.Type), event.Details})
	}
	return entry
}

func printHistory(out io.Writer, found history, document bool) {
	process := found.process
	facts(out, "supplier", process.Key.Supplier, "external number", process.Key.External, "state", string(process.State))
	if process.AccountNumber != "" {
		facts(out, "account", process.AccountNumber, "created", instant(process.AccountCreatedAt))
	}
	if process.SkipReason != "" {
		facts(out, "skipped because", process.SkipReason)
	}
	if failure := process.Failure; failure != nil {
		facts(out, "last failure", instant(failure.At)+" "+failure.Code+": "+failure.Detail)
	}
	rows := [][]string{}
	for _, revision := range found.revisions {
		rows = append(rows, []string{strconv.Itoa(revision.Revision), instant(revision.StagedAt),
			strconv.Itoa(len(revision.Document)), hex.EncodeToString(revision.Hash[:6])})
	}
	fmt.Fprintln(out)
	table(out, []string{"REVISION", "STAGED", "BYTES", "HASH"}, rows)
	if len(found.events) > 0 {
		fmt.Fprintln(out)
		table(out, []string{"EVENT", "AT", "DETAILS"}, eventRows(found.events))
	}
	if document && len(found.revisions) > 0 {
		fmt.Fprintln(out)
		printDocument(out, found.revisions[len(found.revisions)-1].Document)
	}
}

func eventRows(events []landfall.Event) [][]string {
	rows := [][]string{}
	for _, event := range events {
		details := []string{}
		for _, name := range slices.Sorted(maps.Keys(event.Details)) {
			details = append(details, name+"="+event.Details[name])
		}
		rows = append(rows, []string{string(event.Type), instant(event.At), strings.Join(details, " ")})
	}
	return rows
}

// printDocument prints the latest staged data, a line per field.
func printDocument(out io.Writer, document []byte) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		indented.Reset()
		indented.Write(document)
	}
	for line := range strings.Lines(indented.String()) {
		fmt.Fprintln(out, clean(strings.TrimSuffix(line, "\n")))
	}
}
