// Command landfall is the account migration import service and the operator's
// hand on it: one binary, one file per command.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// main is as small as it can be: everything else takes its surroundings as
// arguments and can be tried by a test.
func main() {
	os.Exit(runMain(os.Args[1:], os.Stdout, os.Stderr))
}

// runMain is main with its surroundings as arguments, for the tests.
func runMain(args []string, stdout, stderr io.Writer) int {
	// The first signal ends the work in order. Once it came, the next one is
	// not caught any more and ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRoot(args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// Everything that can go wrong comes back here, so that there is one place that complains and
	// one that chooses the code.
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	// By the arguments and not by the flag, which may not have been read.
	printError(stderr, err, jsonInArguments(args))
	return exitCode(err)
}

// newRoot puts the commands together. The arguments are only looked at when
// they cannot be understood, to find out which word was the wrong one.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "landfall",
		Short: "Account migration import service",
		Long: "Account migration import service: one program that serves the API, and the\n" +
			"operator's hand on its database.\n\n" +
			"Exit codes: 0 done, 1 refused or some accounts failed, 2 wrong usage, 3 server\n" +
			"or database unreachable.",
		Example: "  landfall demo                                watch a book move, in a throw-away world\n" +
			"  landfall supplier create NORTH               prepare a supplier\n" +
			"  landfall account show NORTH 1001             see what became of an account",
		Version:           version,
		SilenceErrors:     true, // complain says them, once and in one line
		SilenceUsage:      true, // a page of help buries the error it follows
		DisableAutoGenTag: true, // the same commit makes the same manual pages
		Args:              onlyCommands,
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetVersionTemplate(versionLine() + "\n")
	// Hardly anything we take is a file; the flags that are say so themselves.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddCommand(reconcileCommand())
	root.PersistentFlags().Bool(jsonFlag, false, "print JSON for machines, errors too")
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return flagError(command, args, err)
	})
	root.AddCommand(
		serveCommand(), demoCommand(), supplierCommand(), teamCommand(), organisationCommand(), keyCommand(),
		operatorCommand(), accountCommand(), runCommand(), auditCommand(), mailCommand(), vendorCommand(), webhookCommand(),
		schemaCommand(), verifyCommand(), purgeCommand(), rekeyCommand(), backupCommand(), restoreCommand(), configCommand(), doctorCommand(), validateCommand(), importCommand(), generateCommand(), convertCommand(), rulesCommand(), openapiCommand(), versionCommand(), manCommand(),
	)
	// The library makes the help command only when it is needed, so it is asked for now: its
	// arguments are to be checked like those of the others.
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.Args = onlyTopics
		}
	}
	return root
}

// commandGroup makes a command that only holds others. Alone it shows its help: whoever
// types half a command wants to know the other half.
func commandGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: name, Short: short, Args: onlyCommands,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}
