package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// keyCommand holds the life of an API key: made, looked at, replaced, ended.
func keyCommand() *cobra.Command {
	return commandGroup("key", "API keys of organisations", keyCreate(), keyList(), keyRevoke(), keyRotate())
}

// keyCreate makes a key. The organisation is an argument; only how long the key
// lives and what it may do are flags.
func keyCreate() *cobra.Command {
	var role, expires string
	command := onDatabase(&cobra.Command{
		Use: "create ORGANISATION", Short: "Make a key and print it, this once", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Read before anything is made: a slip here must not cost a key.
		life, err := parseDurationFlag("expires", expires)
		if err != nil {
			return err
		}
		key, secret, err := operator.CreateKey(command.Context(),
			operate.KeyRequest{Organisation: args[0], Role: landfall.Role(role), Life: life})
		if err != nil {
			return err
		}
		return printNewKey(command, key, secret)
	})
	command.Flags().StringVar(&role, "role", string(landfall.RoleImporter), "what its holder may do: importer or viewer")
	command.Flags().StringVar(&expires, "expires", "", "how long it is good, such as 90d; without end when empty")
	completeFlag(command, "role", oneOf(string(landfall.RoleImporter), string(landfall.RoleViewer)))
	completeFlag(command, "expires", oneOf("30d", "90d", "365d"))
	return command
}

// printNewKey prints the new key alone on standard output, so that it can be
// piped into a safe place, and what a person wants to know beside it.
func printNewKey(command *cobra.Command, key landfall.APIKey, secret auth.Secret) error {
	until := "without end"
	if !key.ExpiresAt.IsZero() {
		until = "until " + formatTime(key.ExpiresAt)
	}
	made := struct {
		keyEntry
		Key string `json:"key"`
	}{newKeyEntry(key), secret.Reveal()}
	// The sentence goes to standard error, where no pipe takes it along.
	// People get a sentence; with JSON the same is in the object, and standard error stays free
	// for errors.
	if !jsonWanted(command) {
		fmt.Fprintf(command.ErrOrStderr(), "Key %s of %q (%s), good %s. It is shown only now:\n", key.ID, key.Organisation, key.Role, until)
	}
	return printDone(command, made, "%s", secret.Reveal())
}

// keyEntry is a key for machines, without its text: nobody has that any more.
type keyEntry struct {
	ID           string  `json:"id"`
	Organisation string  `json:"organisation"`
	Role         string  `json:"role"`
	CreatedAt    *string `json:"created_at,omitempty"`
	ExpiresAt    *string `json:"expires_at"`
	RevokedAt    *string `json:"revoked_at"`
	UsedAt       *string `json:"last_used_at"`
}

// newKeyEntry writes times that never were as null.
func newKeyEntry(key landfall.APIKey) keyEntry {
	return keyEntry{key.ID, key.Organisation, string(key.Role), timeOrNull(key.CreatedAt), timeOrNull(key.ExpiresAt),
		timeOrNull(key.RevokedAt), timeOrNull(key.UsedAt)}
}

// keyList shows dead keys too: an operator asks for them after the fact.
func keyList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list [ORGANISATION]", Short: "List keys, revoked and expired ones too", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Without a name those of all organisations are listed.
		organisation := ""
		if len(args) == 1 {
			organisation = args[0]
		}
		keys, err := operator.Keys(command.Context(), organisation)
		if err != nil {
			return err
		}
		entries, rows := []keyEntry{}, [][]string{}
		// Both are filled in one go, so that machines and people never see different keys.
		for _, key := range keys {
			entries = append(entries, newKeyEntry(key))
			rows = append(rows, []string{key.ID, key.Organisation, string(key.Role),
				formatTime(key.CreatedAt), formatTime(key.ExpiresAt), formatTime(key.RevokedAt), formatTime(key.UsedAt)})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"ID", "ORGANISATION", "ROLE", "CREATED", "EXPIRES", "REVOKED", "LAST USED"}, rows)
		})
	})
}

// keyRevoke ends a key at once, on every replica within seconds.
func keyRevoke() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "revoke ID", Short: "End a key and all its tokens, for good", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(keyIDs),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := operator.RevokeKey(command.Context(), args[0]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "key.revoke", "id": args[0]}, "Key %s revoked.", args[0])
	})
}

// keyRotate lets old and new overlap, so that nobody has to change over in the
// middle of the night.
func keyRotate() *cobra.Command {
	var overlap string
	command := onDatabase(&cobra.Command{
		Use: "rotate ID", Short: "Make a successor of a key and print it, this once", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(keyIDs),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Read before a key is made, as above.
		overlapping, err := parseDurationFlag("overlap", overlap)
		if err != nil {
			return err
		}
		key, secret, err := operator.RotateKey(command.Context(), args[0], overlapping)
		if err != nil {
			return err
		}
		return printNewKey(command, key, secret)
	})
	command.Flags().StringVar(&overlap, "overlap", "1d", "how long the old key goes on beside the new one")
	return command
}

// parseDurationFlag reads a duration flag; empty means none.
func parseDurationFlag(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	// Days are what people count keys in; Go's own durations end at hours.
	read, err := app.ParseDuration(text)
	// A length below zero would end a key before it begins.
	if err != nil || read < 0 {
		return 0, usageError{fmt.Errorf("--%s: want a duration such as 12h or 90d", flag)}
	}
	return read, nil
}
