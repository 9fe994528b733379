// Command landfall is the account migration import service and its command line: one binary, one
// file per command.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"landfall/internal/outbound/shape"
)

// main calls runMain, which takes its environment as arguments so that tests can call it.
func main() {
	os.Exit(runMain(os.Args[1:], os.Stdout, os.Stderr))
}

// runMain runs a command line and returns the exit code.
func runMain(args []string, stdout, stderr io.Writer) int {
	// A process of its own for the jq programs of targets.
	if len(args) == 1 && args[0] == shape.WorkerArgument {
		shape.Work(os.Stdin, stdout)
		return exitDone
	}
	// The first signal ends the work in order. The next one ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRoot(args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// All errors come back here, so that one place prints them and chooses the exit code.
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	// The flag itself may not have been parsed.
	printError(stderr, err, jsonInArguments(args))
	return exitCode(err)
}

// newRoot creates the commands. The arguments are only used to explain wrong ones.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "landfall",
		Short: "Account migration import service",
		Long: "Account migration import service: one program that serves the API and manages its\n" +
			"database.\n\n" +
			"Exit codes: 0 done, 1 refused or some accounts failed, 2 wrong usage, 3 server\n" +
			"or database unreachable.",
		Example: "  landfall demo                                watch an import into a temporary server\n" +
			"  landfall supplier create NORTH               create a supplier\n" +
			"  landfall account show NORTH 1001             show an account and its history",
		Version:           version,
		SilenceErrors:     true, // printError prints them, once and in one line
		SilenceUsage:      true, // a page of help hides the error above it
		DisableAutoGenTag: true, // the same commit gives the same manual pages
		Args:              onlyCommands,
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetVersionTemplate(versionLine() + "\n")
	// Few arguments are files; flags that are say so themselves.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddCommand(reconcileCommand())
	root.PersistentFlags().Bool(jsonFlag, false, "print JSON, also for errors")
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return flagError(command, args, err)
	})
	root.AddCommand(
		serveCommand(), demoCommand(), supplierCommand(), teamCommand(), organisationCommand(), keyCommand(),
		operatorCommand(), accountCommand(), runCommand(), auditCommand(), mailCommand(), vendorCommand(), packCommand(), webhookCommand(), targetCommand(), deliveryCommand(),
		schemaCommand(), verifyCommand(), recountCommand(), replicasCommand(), purgeCommand(), rekeyCommand(), backupCommand(), restoreCommand(), copyCommand(), configCommand(), doctorCommand(), healthCommand(), validateCommand(), importCommand(), exportCommand(), generateCommand(), convertCommand(), rulesCommand(), openapiCommand(), versionCommand(), manCommand(), handbookCommand(),
	)
	// Created now, so that its arguments can be checked like those of the others.
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.Args = onlyTopics
		}
	}
	return root
}

// commandGroup makes a command that only contains others. Without arguments it shows its help.
func commandGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: name, Short: short, Args: onlyCommands,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}
