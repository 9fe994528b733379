package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

func keyCommand() *cobra.Command {
	return commandGroup("key", "Manage the API keys of organisations", keyCreate(), keyList(), keyRevoke(), keyRotate())
}

func keyCreate() *cobra.Command {
	var role, expires string
	command := onDatabase(&cobra.Command{
		Use: "create ORGANISATION", Short: "Create an API key and print it once", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Parsed before anything is created.
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
	command.Flags().StringVar(&role, "role", string(landfall.RoleImporter), "what the key allows: importer, viewer or reader")
	command.Flags().StringVar(&expires, "expires", "", "how long the key is valid, such as 90d; empty means no expiry")
	completeFlag(command, "role", oneOf(string(landfall.RoleImporter), string(landfall.RoleViewer), string(landfall.RoleReader)))
	completeFlag(command, "expires", oneOf("30d", "90d", "365d"))
	return command
}

// printNewKey prints the key alone on standard output, so that it can be piped, and the explanation
// on standard error.
func printNewKey(command *cobra.Command, key landfall.APIKey, secret auth.Secret) error {
	expiry := "no expiry"
	if !key.ExpiresAt.IsZero() {
		expiry = "expires " + formatTime(key.ExpiresAt)
	}
	data := struct {
		keyEntry
		Key string `json:"key"`
	}{newKeyEntry(key), secret.Reveal()}
	return printSecret(command, secret.Reveal(),
		fmt.Sprintf("Created API key %s for %s (%s), %s. It will not be shown again:", key.ID, key.Organisation, key.Role, expiry), data)
}

// printSecret prints a secret alone on standard output, so that it can be piped. With --json the
// data contains everything and standard error stays free for errors.
func printSecret(command *cobra.Command, secret, sentence string, data any) error {
	if !jsonWanted(command) {
		fmt.Fprintln(command.ErrOrStderr(), escapeText(sentence))
	}
	return printDone(command, data, "%s", secret)
}

// keyEntry is a key in lists and JSON. The key itself is not stored anywhere.
type keyEntry struct {
	ID           string  `json:"id" table:"ID"`
	Organisation string  `json:"organisation" table:"ORGANISATION"`
	Role         string  `json:"role" table:"ROLE"`
	CreatedAt    *string `json:"created_at,omitempty" table:"CREATED"`
	ExpiresAt    *string `json:"expires_at" table:"EXPIRES"`
	RevokedAt    *string `json:"revoked_at" table:"REVOKED"`
	UsedAt       *string `json:"last_used_at" table:"LAST USED"`
}

func newKeyEntry(key landfall.APIKey) keyEntry {
	return keyEntry{key.ID, key.Organisation, string(key.Role), timeOrNull(key.CreatedAt), timeOrNull(key.ExpiresAt),
		timeOrNull(key.RevokedAt), timeOrNull(key.UsedAt)}
}

// keyList lists all keys, including revoked and expired ones.
func keyList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list [ORGANISATION]", Short: "List API keys, including revoked and expired ones", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		keys, err := operator.Keys(command.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		return printList(command, rowsOf(keys, newKeyEntry))
	})
}

// keyRevoke revokes a key. It takes effect on all servers within seconds.
func keyRevoke() *cobra.Command {
	return changeCommand("key.revoke", &cobra.Command{
		Use: "revoke ID", Short: "Revoke an API key and all its tokens", ValidArgsFunction: completeArguments(keyIDs),
	}, "id", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return operator.RevokeKey(ctx, args[0])
	}, "Revoked API key %s.")
}

// keyRotate creates a successor. Both keys are valid for a while, so that callers can switch at any
// time.
func keyRotate() *cobra.Command {
	var overlap string
	command := onDatabase(&cobra.Command{
		Use: "rotate ID", Short: "Create a successor of an API key and print it once", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(keyIDs),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Parsed before anything is created.
		both, err := parseDurationFlag("overlap", overlap)
		if err != nil {
			return err
		}
		key, secret, err := operator.RotateKey(command.Context(), args[0], both)
		if err != nil {
			return err
		}
		return printNewKey(command, key, secret)
	})
	command.Flags().StringVar(&overlap, "overlap", "1d", "how long the old key stays valid next to the new one")
	return command
}

// parseDurationFlag reads a duration; empty means zero.
func parseDurationFlag(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	parsed, err := app.ParseDuration(text) // also reads days, unlike time.ParseDuration
	if err != nil || parsed < 0 {
		return 0, usageError{fmt.Errorf("--%s: want a duration such as 12h or 90d", flag)}
	}
	return parsed, nil
}
