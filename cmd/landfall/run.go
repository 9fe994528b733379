package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/client"
)

// runCommand groups the commands for runs. 'run undo' works on the database; all others use the
// API.
func runCommand() *cobra.Command {
	return commandGroup("run", "Manage runs, in which a server creates a supplier's staged accounts",
		runStart(), runList(), runShow(),
		runStateCommand("pause", "Pause a run; accounts being created are finished first", (*client.Client).PauseRun),
		runStateCommand("resume", "Resume a paused run", (*client.Client).ResumeRun),
		runStateCommand("cancel", "Cancel a run; created accounts are kept", (*client.Client).CancelRun),
		runUndo(),
	)
}

// runStart starts a run and optionally watches it until it ends.
func runStart() *cobra.Command {
	var plan client.RunPlan
	var notBefore, notAfter, listFile string
	var watching bool
	command := onServer(&cobra.Command{
		Use: "start SUPPLIER TEAM", Short: "Create a supplier's staged accounts, or test creating them", Args: checkArguments(cobra.ExactArgs(2)),
		Long: "Ask a server to create a supplier's staged accounts in the background. The run\n" +
			"continues after this command ends, and after a restart of the server. With --watch\n" +
			"the command waits until the run ends; the exit code is then 1 if accounts failed.",
		Example: "  landfall run start NORTH 'Migration Team' --dry-run --sample 100 --watch\n" +
			"  landfall run start NORTH 'Migration Team' --not-before 2026-11-21T22:00:00Z",
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		plan.Supplier, plan.Team = args[0], args[1]
		var err error
		// Parsed here, so that a mistake is wrong usage and not a refusal of the server.
		if plan.NotBefore, err = parseTimeFlag("not-before", notBefore); err != nil {
			return err
		}
		if plan.NotAfter, err = parseTimeFlag("not-after", notAfter); err != nil {
			return err
		}
		if listFile != "" {
			if plan.Select.Accounts, err = readAccountList(listFile); err != nil {
				return usageError{err}
			}
		}
		// An error after this line does not end the run.
		run, err := server.StartRun(command.Context(), plan)
		if err != nil {
			return err
		}
		if watching {
			return watchRun(command, server, run)
		}
		return printData(command, run, func(out io.Writer) {
			fmt.Fprintf(out, "Started run %s of %s. Watch it with: landfall run show %s --watch\n", run.ID, escapeText(run.Supplier), run.ID)
		})
	}))
	flags := command.Flags()
	flags.BoolVar(&plan.DryRun, "dry-run", false, "do everything and roll it back")
	flags.StringVar(&plan.Select.State, "select", "", "which accounts: pending (all that are staged), failed or untried")
	flags.StringVar(&plan.Select.Delivery, "delivery", "", "only accounts staged by this delivery")
	flags.StringVar(&listFile, "accounts", "", "only the accounts in this file, one external account number per line")
	flags.StringSliceVar(&plan.Select.Codes, "code", nil, "only accounts that last failed with this code; can be repeated")
	flags.IntVar(&plan.Sample, "sample", 0, "test every Nth account")
	flags.IntVar(&plan.Limit, "limit", 0, "maximum number of accounts")
	flags.IntVar(&plan.AtOnce, "at-once", 0, "number of accounts to create in parallel (default: the server decides)")
	flags.StringVar(&notBefore, "not-before", "", "when the run may start, such as 2026-11-21T22:00:00Z")
	flags.StringVar(&notAfter, "not-after", "", "when the run pauses if it has not ended")
	flags.BoolVar(&watching, "watch", false, "watch the run until it ends")
	completeFlag(command, "select", oneOf("pending", "failed", "untried"))
	completeFlag(command, "delivery", noCompletion)
	completeFlag(command, "code", noCompletion)
	return command
}

// readAccountList reads external account numbers, one per line.
func readAccountList(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	// Otherwise the run would take every account.
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no account numbers", path)
	}
	return list, nil
}

// parseTimeFlag reads an optional time.
func parseTimeFlag(name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usageError{fmt.Errorf("--%s: want a time such as 2026-11-21T22:00:00Z", name)}
	}
	return &at, nil
}

// runList lists a supplier's runs, newest first.
func runList() *cobra.Command {
	return onServer(&cobra.Command{
		Use: "list SUPPLIER", Short: "List a supplier's runs, newest first", Args: checkArguments(cobra.ExactArgs(1)),
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		runs := []client.Run{}
		for run, err := range server.Runs(command.Context(), args[0]) {
			if err != nil {
				return err
			}
			runs = append(runs, run)
		}
		return printData(command, runs, func(out io.Writer) {
			printTable(out, []string{"ID", "STATE", "KIND", "SELECTED", "SUCCEEDED", "FAILED", "REFUSED", "CREATED"},
				rowsOf(runs, func(run client.Run) []string {
					return []string{
						run.ID, run.State, runKind(run), strconv.Itoa(run.Selected), strconv.Itoa(run.Succeeded), strconv.Itoa(run.Failed),
						strconv.Itoa(run.Refused), formatTime(run.CreatedAt),
					}
				}))
		})
	}))
}

func runKind(run client.Run) string {
	kind := "create"
	if run.DryRun {
		kind = "dry-run"
	}
	if run.Sample > 1 {
		kind += fmt.Sprintf(" 1/%d", run.Sample)
	}
	return kind
}

// runShow prints the state of a run, or watches it.
func runShow() *cobra.Command {
	var watching bool
	command := onServer(&cobra.Command{
		Use: "show ID", Short: "Show the state of a run", Args: checkArguments(cobra.ExactArgs(1)),
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		run, err := server.Run(command.Context(), args[0])
		if err != nil {
			return err
		}
		if watching {
			return watchRun(command, server, run)
		}
		return printData(command, run, func(out io.Writer) { printRun(out, run) })
	}))
	command.Flags().BoolVar(&watching, "watch", false, "watch the run until it ends")
	return command
}

// runStateCommand makes a command that changes the state of a run.
func runStateCommand(name, short string, act runVerb) *cobra.Command {
	return onServer(&cobra.Command{
		Use: name + " ID", Short: short, Args: checkArguments(cobra.ExactArgs(1)),
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		run, err := act(server, command.Context(), args[0])
		if err != nil {
			return err
		}
		return printData(command, run, func(out io.Writer) { fmt.Fprintln(out, runProgressLine(run)) })
	}))
}

// withServerErrors translates errors of the client: a refusal keeps its code, and a missing
// response is an unreachable server.
func withServerErrors(work func(*cobra.Command, *client.Client, []string) error) func(*cobra.Command, *client.Client, []string) error {
	return func(command *cobra.Command, server *client.Client, args []string) error {
		err := work(command, server, args)
		refusal, refused := errors.AsType[*client.Error](err)
		if !refused {
			return classifyServerError(err)
		}
		out := landfall.Refuse(refusal.Code, refusal.Detail)
		// A server error counts as unreachable: scripts retry both.
		if refusal.Status >= http.StatusInternalServerError {
			out.Kind = landfall.Unavailable
		}
		for _, violation := range refusal.Violations {
			out.Violations = append(out.Violations, landfall.Violation(violation))
		}
		return out
	}
}
