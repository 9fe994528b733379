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

// databaseSettings are the ones a command on the database listens to.
var databaseSettings = []string{"database", "database-password-file", "allow-weak-durability", "encryption-key-file"}

// onDatabase completes a command that works on the database directly, with the
// operator's verbs. Some listen to further settings.
func onDatabase(command *cobra.Command, work func(*cobra.Command, *operate.Operator, []string) error, further ...string) *cobra.Command {
	return onStore(command, func(command *cobra.Command, store landfall.Store, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Made for every command, though few send anything: a wrong setting of it is then wrong
		// usage wherever it is met.
		sender, err := app.NewSender(settings)
		if err != nil {
			return usageError{err}
		}
		defer sender.Close()
		return work(command, operate.New(store, operate.Options{
			Actor: currentActor(), Source: hostname(), Rules: contract.RuleCodes(), SecretVariables: settings.VendorSecrets, Sender: sender, SendsMail: settings.Mail.Server != "",
		}), args)
	}, further...)
}

// longRunning marks commands that look at everything in the database at once,
// which takes its time.
const longRunning = "counts all"

// longRunningTimeout is how long they may take.
const longRunningTimeout = 6 * time.Hour

// onStore completes a command that reads the database directly.
func onStore(command *cobra.Command, work func(*cobra.Command, landfall.Store, []string) error, further ...string) *cobra.Command {
	addSettings(command, slices.Concat(databaseSettings, further)...)
	command.RunE = func(command *cobra.Command, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Commands that ask single questions get no more time than the store gives by itself.
		patience := time.Duration(0)
		if command.Annotations[longRunning] != "" {
			patience = longRunningTimeout
		}
		store, err := openStore(command.Context(), settings, patience)
		if err != nil {
			return err
		}
		// A database that cannot be closed in order is worth knowing of.
		return errors.Join(work(command, store, args), store.Close())
	}
	return command
}

// addSettings declares settings as flags of a command, all without names, and
// what a shell can complete of them.
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
			_ = command.MarkFlagDirname(name) // likewise
		case "config", "database-password-file", "encryption-key-file", "smtp-password-file", "smtp-ca-file",
			"tls-certificate", "tls-key", "tls-client-ca":
			_ = command.MarkFlagFilename(name) // it is there, or we would not be here
		}
	}
}

// loadSettings reads the settings of a command; a wrong one is wrong usage,
// wherever it was set.
func loadSettings(command *cobra.Command) (app.Settings, error) {
	settings, err := app.Load(command.Flags())
	if err != nil {
		return app.Settings{}, usageError{err}
	}
	return settings, nil
}

// storeOptions are those of every command that opens a database, or a copy of
// one.
func storeOptions(settings app.Settings, patience time.Duration) (sqlstore.Options, error) {
	keys, err := settings.EncryptionKeys()
	if err != nil {
		return sqlstore.Options{}, usageError{err}
	}
	return sqlstore.Options{
		Keys: keys, AllowWeakDurability: settings.WeakDatabase, Connections: 2, Figures: contract.DocumentFigures, SearchTerms: contract.SearchTerms, Patience: patience,
	}, nil
}

// openStore opens the database as a guest: two connections are enough for one
// command, and the schema is left as it is.
func openStore(ctx context.Context, settings app.Settings, patience time.Duration) (*sqlstore.Store, error) {
	options, err := storeOptions(settings, patience)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.Open(ctx, settings.Database, options)
	// A key that was not given is a setting to be mended; the database itself is there.
	if errors.Is(err, sqlstore.ErrLocked) {
		return nil, usageError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	if err != nil {
		return nil, unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	return store, nil
}

// currentActor is who the audit names: the operator's login on this machine.
func currentActor() string {
	if account, err := user.Current(); err == nil && account.Username != "" {
		return "operator:" + account.Username
	}
	return "operator:unknown"
}

// hostname is where the audit says that a command was typed.
func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return ""
}
