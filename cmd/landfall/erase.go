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

// accountErase takes away what is personal of one account. That cannot be taken
// back, so the account's number has to be typed twice.
func accountErase() *cobra.Command {
	var confirm string
	var wipe bool
	command := onAccount(&cobra.Command{
		Use: "erase SUPPLIER EXTERNAL", Short: "Erase for good what is personal of an account",
		Long: "Erase for good what is personal of an account: staged documents, people,\n" +
			"addresses, supply points' and meters' numbers, what somebody wrote, mails, and\n" +
			"what it is found by. Its numbers, its ledger and that it was there stay. An\n" +
			"account that was never created is marked to be skipped for good. Done again,\n" +
			"it erases what was added since. Nothing of this can be taken back.\n\n" +
			"What was erased is out of every answer at once. Its bytes may stay in the\n" +
			"database's files until they are written over: --wipe writes all of the\n" +
			"files anew, which takes long on a big database and lets nobody else write\n" +
			"meanwhile.",
		Example: "  landfall account erase NORTH 1001 --reason 'request of 4 May' --confirm 1001",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		// Typed and not answered: a question could not be scripted, and a yes is typed too
		// easily.
		// Before the verb is asked, so that what was not confirmed changes nothing.
		if confirm != key.External {
			return usageError{fmt.Errorf("this cannot be taken back: repeat the number with --confirm %s", key.External)}
		}
		// From here on it is done, whatever happens to the files.
		erasure, err := operator.Erase(command.Context(), key, reason)
		if err != nil {
			return err
		}
		// Last, and only when asked for, because nobody can write meanwhile. What was erased
		// stays erased if it fails, and the error says so.
		if wipe {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			if err := sqlstore.Wipe(command.Context(), settings.Database); err != nil {
				return errors.Join(errors.New("the account is erased, but its bytes may still be in the database's files"), err)
			}
		}
		return printDone(command, map[string]any{
			"action": "account.erase", "import_supplier": key.Supplier, "external_account_number": key.External,
			"account_number": erasure.AccountNumber, "revisions": erasure.Revisions, "erased_before": formatTime(erasure.PreviousAt), "wiped": wipe,
		}, "What was personal of account %s of %s is erased.", key.External, key.Supplier)
	})
	flags := command.Flags()
	flags.StringVar(&confirm, "confirm", "", "the external number once more (required)")
	flags.BoolVar(&wipe, "wipe", false, "write the database's files anew, so that nothing is left in them")
	return command
}

// accountExport prints everything that is known about an account, for the
// person it is about.
func accountExport() *cobra.Command {
	return onAccount(&cobra.Command{
		Use: "export SUPPLIER EXTERNAL", Short: "Print everything known about an account as JSON, personal data and all",
		Long: "Print everything that is known about an account as JSON, personal data and all:\n" +
			"what a person who asks is to be given. That it was printed is in the audit.",
		Example: "  landfall account export NORTH 1001 --reason 'request of 4 May' >1001.json",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		found, err := operator.ExportAccount(command.Context(), key, reason)
		if err != nil {
			return err
		}
		// There is no form for people: they get what machines get, which leaves nothing out.
		if err := command.Flags().Set(jsonFlag, "true"); err != nil {
			return err
		}
		return printData(command, accountview.New(accountview.Facts(found), accountview.Options{Personal: true, Staged: true}), nil)
	})
}
