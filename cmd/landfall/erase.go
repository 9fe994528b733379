package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
)

// accountErase erases the personal data of one account. It cannot be undone, so the external number
// has to be repeated.
func accountErase() *cobra.Command {
	var confirm string
	var wipe bool
	command := onAccount(&cobra.Command{
		Use: "erase SUPPLIER EXTERNAL", Short: "Permanently erase the personal data of an account",
		Long: "Permanently erase the personal data of an account: staged documents, customers,\n" +
			"addresses, the numbers of supply points and meters, free text, mails, and its search\n" +
			"index entries. The account numbers, the ledger and the fact that the account existed\n" +
			"are kept. An account that was never created is marked as skipped for good. Running\n" +
			"the command again erases what was added since. It cannot be undone.\n\n" +
			"Erased data disappears from all responses immediately. Its bytes may remain in the\n" +
			"database files until they are overwritten: --wipe rewrites all of the files, which\n" +
			"takes long for a large database and blocks all other writes meanwhile.",
		Example: "  landfall account erase NORTH 1001 --reason 'request of 4 May' --confirm 1001",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		// A flag and not a question, so that it can be scripted and needs more than a "yes".
		if confirm != key.External {
			return usageError{fmt.Errorf("this cannot be undone; repeat the number with --confirm %s", key.External)}
		}
		// Erased from here on, whatever happens to the files.
		erasure, err := operator.Erase(command.Context(), key, reason)
		if err != nil {
			return err
		}
		// Last and only on request, because it blocks all writes.
		if wipe {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			if err := sqlstore.Wipe(command.Context(), settings.Database); err != nil {
				return errors.Join(errors.New("the account is erased, but its data may remain in the database files"), err)
			}
		}
		return printDone(command, map[string]any{
			"action": "account.erase", "import_supplier": key.Supplier, "external_account_number": key.External,
			"account_number": erasure.AccountNumber, "revisions": erasure.Revisions, "erased_before": formatTime(erasure.PreviousAt), "wiped": wipe,
		}, "Erased the personal data of account %s of %s.", key.External, key.Supplier)
	})
	flags := command.Flags()
	flags.StringVar(&confirm, "confirm", "", "the external number again (required)")
	flags.BoolVar(&wipe, "wipe", false, "rewrite the database files, so that no erased data remains in them")
	return command
}

// accountExport prints all data of an account, for the person it is about.
func accountExport() *cobra.Command {
	return onAccount(&cobra.Command{
		Use: "export SUPPLIER EXTERNAL", Short: "Print all data of an account as JSON, including personal data",
		Long: "Print all data of an account as JSON, including personal data, to answer a subject\n" +
			"access request. The export is recorded in the audit log.",
		Example: "  landfall account export NORTH 1001 --reason 'request of 4 May' >1001.json",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		found, err := operator.ExportAccount(command.Context(), key, reason)
		if err != nil {
			return err
		}
		// There is only a JSON form, which leaves nothing out.
		if err := command.Flags().Set(jsonFlag, "true"); err != nil {
			return err
		}
		return printData(command, accountview.New(accountview.Facts(found), accountview.Options{Personal: true, Staged: true}), nil)
	})
}
