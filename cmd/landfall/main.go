// Command landfall is the account migration import service and the operator's
// hand on it: one binary, one file per command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"landfall"
)

// version is set by the build.
var version = "development"

// The exit codes.
const (
	exitDone        = 0
	exitRefused     = 1 // understood, but not done
	exitUsage       = 2 // the command line or a setting is wrong
	exitUnreachable = 3 // the database is away or not fit for use
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments, for the tests.
func run(arguments []string, stdout, stderr io.Writer) int {
	// The first signal ends the work in order. Once it came, the next one is
	// not caught any more and ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(stderr, "landfall: "+explain(err))
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "landfall",
		Short:         "Account migration import service",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		serveCommand(), supplierCommand(), teamCommand(), organisationCommand(), keyCommand(),
		accountCommand(), vendorCommand(), schemaCommand(), rulesCommand(), openapiCommand(), versionCommand(),
	)
	return root
}

// group makes a command that only holds others.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: name, Short: short, Args: usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}

// usageError marks what the user typed wrongly.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// unreachable marks a database that cannot be used.
type unreachable struct{ error }

func (e unreachable) Unwrap() error { return e.error }

// usage makes a check of arguments answer with the usage exit code.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if err := check(command, arguments); err != nil {
			return usageError{fmt.Errorf("%w; see %s --help", err, command.CommandPath())}
		}
		return nil
	}
}

func exitCode(err error) int {
	var known *landfall.Error
	switch {
	case errors.As(err, &usageError{}):
		return exitUsage
	case errors.As(err, &unreachable{}), errors.Is(err, landfall.ErrUnavailable), errors.Is(err, landfall.ErrUnknownOutcome):
		return exitUnreachable
	case errors.As(err, &known) && known.Kind == landfall.Unavailable:
		return exitUnreachable
	case errors.As(err, &known) && known.Code == landfall.CodeValidationFailed && len(known.Violations) > 0:
		return exitUsage // a value that no database could accept
	}
	return exitRefused
}

// explain gives the one line a person needs.
func explain(err error) string {
	text := err.Error()
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		text = known.Detail
	}
	return clean(strings.ReplaceAll(text, "\n", "; "))
}
