package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/client"
)

// runCommand holds what is asked of a server that moves accounts by itself, and
// what an operator decides about it, who alone works on the database.
func runCommand() *cobra.Command {
	return commandGroup("run", "Runs: a server creates a supplier's staged accounts by itself",
		runStart(), runList(), runShow(),
		runStateCommand("pause", "Stop a run for now; what is being created is finished first", (*client.Client).PauseRun),
		runStateCommand("resume", "Let a paused run go on", (*client.Client).ResumeRun),
		runStateCommand("cancel", "End a run for good; what was created stays", (*client.Client).CancelRun),
		runUndo(),
	)
}

// runStart asks for a run and, if wanted, stays to see it end.
func runStart() *cobra.Command {
	var plan client.RunPlan
	var notBefore, notAfter string
	var watching bool
	command := onServer(&cobra.Command{
		Use: "start SUPPLIER TEAM", Short: "Create a supplier's staged accounts, or rehearse it", Args: checkArguments(cobra.ExactArgs(2)),
		Long: "Ask a server to create a supplier's staged accounts in the background. The run\n" +
			"goes on when this command ends, whatever becomes of the server meanwhile.\n" +
			"With --watch it is followed to its end; the exit code is then 1 when accounts\n" +
			"failed.",
		Example: "  landfall run start NORTH 'Migration Team' --dry-run --sample 100 --watch\n" +
			"  landfall run start NORTH 'Migration Team' --not-before 2026-11-21T22:00:00Z",
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		plan.Supplier, plan.Team = args[0], args[1]
		var err error
		// Times are read here, so that a slip is wrong usage and not a refusal of the server.
		if plan.NotBefore, err = parseTimeFlag("not-before", notBefore); err != nil {
			return err
		}
		if plan.NotAfter, err = parseTimeFlag("not-after", notAfter); err != nil {
			return err
		}
		// From here on the run is the server's: an error behind this line does not end it.
		run, err := server.StartRun(command.Context(), plan)
		if err != nil {
			return err
		}
		if watching {
			return watchRun(command, server, run)
		}
		return printData(command, run, func(out io.Writer) {
			fmt.Fprintf(out, "Run %s of %s is asked for. Follow it with: landfall run show %s --watch\n", run.ID, escapeText(run.Supplier), run.ID)
		})
	}))
	flags := command.Flags()
	flags.BoolVar(&plan.DryRun, "dry-run", false, "do everything and take it back")
	flags.StringVar(&plan.Select, "select", "", "which accounts: pending (all that are staged), failed or untried")
	flags.IntVar(&plan.Sample, "sample", 0, "every so manieth of them only")
	flags.IntVar(&plan.Limit, "limit", 0, "at most so many")
	flags.IntVar(&plan.AtOnce, "at-once", 0, "so many side by side; the server decides when it is not said")
	flags.StringVar(&notBefore, "not-before", "", "when it may start, as 2026-11-21T22:00:00Z")
	flags.StringVar(&notAfter, "not-after", "", "when it pauses if it has not ended")
	flags.BoolVar(&watching, "watch", false, "follow it to its end")
	completeFlag(command, "select", func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return []string{"pending", "failed", "untried"}, cobra.ShellCompDirectiveDefault
	})
	return command
}

// parseTimeFlag reads an instant that need not be given.
func parseTimeFlag(name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usageError{fmt.Errorf("--%s: want an instant such as 2026-11-21T22:00:00Z", name)}
	}
	return &at, nil
}

// runList shows a supplier's runs, the newest first.
func runList() *cobra.Command {
	return onServer(&cobra.Command{
		Use: "list SUPPLIER", Short: "List a supplier's runs, newest first", Args: checkArguments(cobra.ExactArgs(1)),
	}, withServerErrors(func(command *cobra.Command, server *client.Client, args []string) error {
		runs, rows := []client.Run{}, [][]string{}
		for run, err := range server.Runs(command.Context(), args[0]) {
			if err != nil {
				return err
			}
			runs = append(runs, run)
			rows = append(rows, []string{
				run.ID, run.State, runKind(run), strconv.Itoa(run.Selected), strconv.Itoa(run.Succeeded), strconv.Itoa(run.Failed),
				strconv.Itoa(run.Refused), formatTime(run.CreatedAt),
			})
		}
		return printData(command, runs, func(out io.Writer) {
			printTable(out, []string{"ID", "STATE", "KIND", "SELECTED", "SUCCEEDED", "FAILED", "REFUSED", "CREATED"}, rows)
		})
	}))
}

// runKind says in a word what a run does.
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

// runShow tells how a run stands, or follows it.
func runShow() *cobra.Command {
	var watching bool
	command := onServer(&cobra.Command{
		Use: "show ID", Short: "Show how a run stands", Args: checkArguments(cobra.ExactArgs(1)),
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
	command.Flags().BoolVar(&watching, "watch", false, "follow it to its end")
	return command
}

// runStateCommand is one of the commands that stop a run or let it go on.
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

// withServerErrors turns what a server said into what this program says: a refusal stays
// one with its code, and no answer is a server out of reach.
func withServerErrors(work func(*cobra.Command, *client.Client, []string) error) func(*cobra.Command, *client.Client, []string) error {
	return func(command *cobra.Command, server *client.Client, args []string) error {
		err := work(command, server, args)
		refusal, told := errors.AsType[*client.Error](err)
		// Where no server answered there is no refusal to translate.
		if !told {
			return classifyServerError(err)
		}
		// Scripts find the code of the API, whichever way they asked.
		out := landfall.Refuse(refusal.Code, refusal.Detail)
		// A server that has trouble of its own is away, as one that does not answer: scripts try
		// again for either.
		if refusal.Status >= http.StatusInternalServerError {
			out.Kind = landfall.Unavailable
		}
		for _, violation := range refusal.Violations {
			out.Violations = append(out.Violations, landfall.Violation(violation))
		}
		return out
	}
}
