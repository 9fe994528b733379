package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/client"
	"landfall/internal/kit/export"
)

// exportCommand copies accounts from a server into files. It only uses the API.
func exportCommand() *cobra.Command {
	order := export.Options{}
	var format, keyFile string
	var packs []string
	pseudonymise := false
	command := onServer(&cobra.Command{
		Use: "export SUPPLIER", Short: "Export a supplier's accounts from a server into files", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(noCompletion),
		Long: "Export the created accounts of a supplier with everything on them: as lines of JSON\n" +
			"(ndjson), as tables (csv, parquet) or as a book, which 'landfall import' takes. It needs\n" +
			"an API key with the role reader; every read is in the server's audit, with the reason.\n\n" +
			"An export that was interrupted continues when you run the same command again. The last\n" +
			"line it prints is a cursor: --changed-since with it exports only accounts that have\n" +
			"changed since. With --pseudonymise, names, e-mail addresses, phone numbers, addresses\n" +
			"and all other texts that may identify a person are replaced by pseudonyms, which are\n" +
			"the same in every export with the same key.",
		Example: "  landfall export NORTH --to north --format parquet --reason 'monthly report'\n" +
			"  landfall export NORTH --to changes --format ndjson --changed-since UdIx… --reason 'nightly copy'\n" +
			"  landfall export NORTH --to test-data --format book --pseudonymise --pseudonym-key-file key --reason 'test system'",
	}, func(command *cobra.Command, server *client.Client, args []string) error {
		order.Supplier, order.Format = args[0], export.Format(format)
		switch {
		case order.Folder == "":
			return usageError{errors.New("--to is required: the folder for the files")}
		case strings.TrimSpace(order.Reason) == "":
			return usageError{errors.New("--reason is required: why you export the accounts, for the audit")}
		case !slices.Contains(export.Formats(), format):
			return usageError{fmt.Errorf("--format: want one of %s", strings.Join(export.Formats(), ", "))}
		}
		var err error
		if order.Schema, err = openPacks(packs); err != nil {
			return err
		}
		if order.Key, err = pseudonymKey(pseudonymise, keyFile); err != nil {
			return err
		}
		return exportAccounts(command, server, order)
	})
	flags := command.Flags()
	flags.StringVar(&order.Folder, "to", "", "folder for the files; it must be new or empty, or have an interrupted export")
	flags.StringVar(&format, "format", string(export.NDJSON), "form of the files: "+strings.Join(export.Formats(), ", "))
	flags.StringVar(&order.ChangedSince, "changed-since", "", "only accounts that changed since this cursor of an earlier export or of the event feed")
	flags.BoolVar(&pseudonymise, "pseudonymise", false, "replace texts that may identify a person by pseudonyms")
	flags.StringVar(&keyFile, "pseudonym-key-file", "", "file with the secret for the pseudonyms (or LANDFALL_PSEUDONYM_KEY)")
	flags.StringVar(&order.Reason, "reason", "", "why you export the accounts, for the audit")
	flags.BoolVar(&order.Restart, "restart", false, "start over, replacing the files of an earlier export into this folder")
	packFlag(command, &packs)
	completeFlag(command, "format", oneOf(export.Formats()...))
	for _, name := range []string{"changed-since", "reason"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// minPseudonymKey is the least length of the secret: a short one could be guessed, and with it the
// names.
const minPseudonymKey = 16

// pseudonymKey returns the secret for pseudonyms, or nil if none are wanted.
func pseudonymKey(wanted bool, file string) ([]byte, error) {
	key := os.Getenv("LANDFALL_PSEUDONYM_KEY")
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError{err}
		}
		key = string(text)
	}
	key = strings.TrimSpace(key)
	switch {
	case !wanted && file != "":
		return nil, usageError{errors.New("--pseudonym-key-file is only for --pseudonymise")}
	case !wanted:
		return nil, nil
	case key == "":
		return nil, usageError{errors.New("--pseudonymise needs a secret: set LANDFALL_PSEUDONYM_KEY, or use --pseudonym-key-file")}
	case len(key) < minPseudonymKey:
		return nil, usageError{fmt.Errorf("the secret for pseudonyms must have at least %d characters; 'openssl rand -hex 32' makes one", minPseudonymKey)}
	}
	return []byte(key), nil
}

// exportAccounts exports the accounts and prints the result.
func exportAccounts(command *cobra.Command, server *client.Client, order export.Options) error {
	bar := newCommandProgress(command, "accounts")
	order.Progress = bar.count
	result, err := export.Run(command.Context(), server, order)
	bar.clear()
	switch {
	case errors.Is(err, export.ErrBusy) || errors.Is(err, export.ErrChanged):
		return usageError{err}
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; run the same command again to continue")
	case client.IsCode(err, "permission_denied"):
		return fmt.Errorf("%w; the export needs an API key with the role reader", err)
	case order.ChangedSince != "" && client.IsCode(err, "validation_failed"):
		return fmt.Errorf("%w; --changed-since takes the cursor that an earlier export printed", err)
	case err != nil:
		return classifyServerError(err)
	}
	if result.LeftOut > 0 {
		printWarning(command, fmt.Sprintf("%d accounts are not in the book, because their personal data was erased", result.LeftOut))
	}
	return printData(command, result, func(out io.Writer) {
		rows := [][]string{}
		for _, file := range result.Files {
			rows = append(rows, []string{file.Name, strconv.Itoa(file.Rows), strconv.FormatInt(file.Bytes, 10)})
		}
		printNumbers(out, []string{"FILE", "ROWS", "BYTES"}, rows, 1)
		fmt.Fprintf(out, "\n%d accounts. Cursor: %s\n", result.Accounts, result.Cursor)
	})
}
