package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
)

// databaseSettings are the settings of every command that opens the database.
var databaseSettings = []string{"database", "database-password-file", "database-password-command", "allow-weak-durability", "encryption-key-file"}

// onDatabase completes a command that works on the database directly, as an operator. Some commands
// take further settings.
func onDatabase(command *cobra.Command, work func(*cobra.Command, *operate.Operator, []string) error, further ...string) *cobra.Command {
	return onStore(command, func(command *cobra.Command, store landfall.Store, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Created for every command, so that a wrong setting is always reported as wrong usage.
		source, err := app.EventSource(command.Context(), settings, store)
		if err != nil {
			return err
		}
		sender, err := app.NewSender(settings, source, store)
		if err != nil {
			return usageError{err}
		}
		defer sender.Close()
		targets, err := app.NewTargetSender(settings)
		if err != nil {
			return usageError{err}
		}
		defer targets.Close()
		return work(command, operate.New(store, operate.Options{
			Actor: currentActor(), Source: hostname(), Rules: contract.RuleCodes(), SecretVariables: settings.VendorSecrets, Sender: sender, Targets: targets, SendsMail: settings.Mail.Server != "",
		}), args)
	}, further...)
}

// longRunning is an annotation of commands that read the whole database.
const longRunning = "counts all"

// longRunningTimeout is how long such a command may run.
const longRunningTimeout = 6 * time.Hour

// onStore completes a command that opens the database.
func onStore(command *cobra.Command, work func(*cobra.Command, landfall.Store, []string) error, further ...string) *cobra.Command {
	addSettings(command, slices.Concat(databaseSettings, further)...)
	command.RunE = func(command *cobra.Command, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		timeout := time.Duration(0) // the store's own
		if command.Annotations[longRunning] != "" {
			timeout = longRunningTimeout
		}
		store, err := openStore(command.Context(), settings, timeout)
		if err != nil {
			return err
		}
		return errors.Join(work(command, store, args), store.Close())
	}
	return command
}

// addSettings declares settings as flags of a command, all of them if no names are given, with
// completion.
func addSettings(command *cobra.Command, names ...string) {
	app.AddFlags(command.Flags(), names...)
	for _, name := range app.FlagNames(command.Flags()) {
		switch name {
		case "database":
			completeFlag(command, name, prefixes("sqlite:", "postgres://"))
		case "documents":
			completeFlag(command, name, prefixes("s3://", "file:///"))
		case "log-format":
			completeFlag(command, name, oneOf("json", "text"))
		case "log-level":
			completeFlag(command, name, oneOf("debug", "info", "warn", "error"))
		case "smtp-tls":
			completeFlag(command, name, oneOf("starttls", "tls", "none"))
		case "mail-templates":
			_ = command.MarkFlagDirname(name) // cannot fail: the flag exists
		case "config", "database-password-file", "encryption-key-file", "smtp-password-file", "smtp-ca-file",
			"tls-certificate", "tls-key", "tls-client-ca":
			_ = command.MarkFlagFilename(name) // cannot fail: the flag exists
		}
	}
}

// loadSettings reads the settings of a command. A wrong setting is wrong usage, wherever it was
// set.
func loadSettings(command *cobra.Command) (app.Settings, error) {
	settings, err := app.Load(command.Flags())
	if err != nil {
		return app.Settings{}, usageError{err}
	}
	return settings, nil
}

// storeOptions are the options of every command that opens a database or a copy of one.
func storeOptions(settings app.Settings, timeout time.Duration) (sqlstore.Options, error) {
	keys, err := settings.EncryptionKeys()
	if err != nil {
		return sqlstore.Options{}, usageError{err}
	}
	return sqlstore.Options{
		Keys: keys, AllowWeakDurability: settings.WeakDatabase, Connections: 2, SearchTerms: contract.SearchTerms, TransactionTimeout: timeout,
		WithoutNames: !settings.EncryptedNames,
	}, nil
}

// openStore opens the database with two connections, which is enough for one command. It does not
// change the schema.
func openStore(ctx context.Context, settings app.Settings, timeout time.Duration) (*sqlstore.Store, error) {
	options, err := storeOptions(settings, timeout)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.Open(ctx, settings.Database, options)
	// A missing key is a wrong setting; the database itself is reachable.
	if errors.Is(err, sqlstore.ErrLocked) {
		return nil, usageError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	if err != nil {
		return nil, unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	return store, nil
}

// currentActor is the actor in the audit log: the login on this machine. An operator of the console
// with the same name is someone else.
func currentActor() string {
	if account, err := user.Current(); err == nil && account.Username != "" {
		return "shell:" + account.Username
	}
	return "shell:unknown"
}

// hostname is where the audit log says a command was run.
func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return ""
}
