package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"landfall/internal/app"
)

// errNotReady is returned when a server responds, but not with success.
var errNotReady = errors.New("the server is not ready")

// healthCommand is the health check of containers, whose image has no shell and no curl.
func healthCommand() *cobra.Command {
	var alive bool
	command := &cobra.Command{
		Use: "health", Short: "Ask the server on this machine whether it is ready", Args: checkArguments(cobra.NoArgs),
		Long: "Ask the server on this machine whether it is ready (/readyz), or with --alive whether it\n" +
			"runs (/healthz). It connects to the address of the setting listen. The exit code is 0 if\n" +
			"so, 1 if not, and 3 if nothing responds.",
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			ok, reason, err := app.Healthy(command.Context(), settings, alive)
			switch {
			case err != nil:
				return unreachableError{fmt.Errorf("the server does not respond: %w", err)}
			case !ok:
				return fmt.Errorf("%w: %s", errNotReady, reason)
			}
			return printDone(command, map[string]any{"ok": true}, "ok")
		},
	}
	addSettings(command, "listen", "tls-certificate", "tls-key")
	command.Flags().BoolVar(&alive, "alive", false, "ask only whether the server runs")
	return command
}
