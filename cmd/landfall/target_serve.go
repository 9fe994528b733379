package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/target"
)

// deliveryID is how a delivery is named outside.
func deliveryID(d landfall.TargetDelivery) string { return contract.DeliveryID(d.ID, d.At) }

// targetServe runs a small target.
func targetServe() *cobra.Command {
	var folder, listen, secretEnv, slow string
	var options target.ServerOptions
	command := &cobra.Command{
		Use: "serve", Short: "Run a small target that stores accounts in a folder, to try out and to learn from", Args: checkArguments(cobra.NoArgs),
		Long: "Run a small target that stores each account as a file, with everything that was posted\n" +
			"to it, and does each delivery once. It can be slow, fail, refuse and leave deliveries\n" +
			"pending. It is no billing system. Press Ctrl-C to stop it.",
		Example: "  landfall target serve --to accounts --listen 127.0.0.1:9199\n" +
			"  landfall target serve --to accounts --secret-env TARGET_SECRET --refuse-every 10 --slow 200ms",
		RunE: func(command *cobra.Command, _ []string) error {
			if folder == "" {
				return usageError{errors.New("--to: name a folder")}
			}
			var err error
			if options.Slow, err = time.ParseDuration(slow); err != nil || options.RefuseEvery < 0 || options.FailEvery < 0 {
				return usageError{errors.New("--slow: want a duration such as 200ms; --refuse-every and --fail-every: want a number from 0 on")}
			}
			if secretEnv != "" {
				if options.Secret, err = delivery.ParseSecret(os.Getenv(secretEnv)); err != nil {
					return usageError{fmt.Errorf("--secret-env: %w", err)}
				}
			}
			return serveTarget(command, folder, listen, options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&folder, "to", "", "folder for the accounts; it is created")
	flags.StringVar(&listen, "listen", "127.0.0.1:9199", "address to listen on")
	flags.StringVar(&secretEnv, "secret-env", "", "environment variable with the secret; without it signatures are not checked")
	flags.StringVar(&slow, "slow", "0s", "how long to wait before each response")
	flags.IntVar(&options.RefuseEvery, "refuse-every", 0, "refuse one of every N accounts; 0 refuses none")
	flags.IntVar(&options.FailEvery, "fail-every", 0, "answer one of every N requests with 503; 0 answers all")
	flags.BoolVar(&options.Pending, "pending", false, "leave deliveries pending until they are confirmed")
	_ = command.MarkFlagDirname("to") // cannot fail: the flag exists
	for _, name := range []string{"listen", "secret-env", "slow", "refuse-every", "fail-every"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// serveTarget serves until it is interrupted.
func serveTarget(command *cobra.Command, folder, listen string, options target.ServerOptions) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // its files are closed by then
	options.Folder = root
	listener, err := new(net.ListenConfig).Listen(command.Context(), "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: target.NewServer(options), ReadHeaderTimeout: limits.Target}
	fmt.Fprintf(command.OutOrStdout(), "The target listens at http://%s and stores accounts in %s. Press Ctrl-C to stop it.\n", listener.Addr(), folder)
	stop := context.AfterFunc(command.Context(), func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// targetCheck tries out the protocol on a target.
func targetCheck() *cobra.Command {
	var secretEnv string
	var back bool
	command := &cobra.Command{
		Use: "check URL", Short: "Check whether a target follows the protocol, with a made-up account", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(prefixes("https://")),
		Long: "Send made-up deliveries to a target and check its responses: that it creates an account,\n" +
			"recognises a delivery that is sent again, adds notes, refuses what is not JSON or wrongly\n" +
			"signed, and deletes the account if it takes accounts back. Without --takes-back the account\n" +
			"stays at the target.",
		Example: "  landfall target check https://billing.example/landfall --secret-env TARGET_SECRET --takes-back",
	}
	addSettings(command, "webhook-networks", "webhook-plain-http")
	command.Flags().StringVar(&secretEnv, "secret-env", "", "environment variable with the signing secret")
	command.Flags().BoolVar(&back, "takes-back", false, "also check that the target deletes accounts")
	completeFlag(command, "secret-env", noCompletion)
	command.RunE = func(command *cobra.Command, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		sender, err := app.NewTargetSender(settings)
		if err != nil {
			return usageError{err}
		}
		defer sender.Close()
		if err := sender.CheckURL(args[0]); err != nil {
			return usageError{fmt.Errorf("the address cannot be used: %w", err)}
		}
		if _, err := delivery.ParseSecret(os.Getenv(secretEnv)); err != nil {
			return usageError{errors.New("--secret-env: name an environment variable with the secret")}
		}
		out := command.OutOrStdout()
		passed := sender.Check(command.Context(), landfall.Target{Code: "CHECK", URL: args[0], SecretEnv: secretEnv, TakesBack: back},
			contract.WholeAccountBody.Example(), target.CheckNotes("check"), func(finding target.Finding) {
				mark := "ok  "
				if !finding.OK {
					mark = "FAIL"
				}
				fmt.Fprintf(out, "%s %s (%s)\n", mark, finding.Step, escapeText(finding.Got))
			})
		if !passed {
			return errors.New("the target did not pass every check; see docs/targets.md")
		}
		return nil
	}
	return command
}
