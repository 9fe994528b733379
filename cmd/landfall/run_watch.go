package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall/client"
)

// runVerb is a client method that changes a run.
type runVerb func(*client.Client, context.Context, string) (client.Run, error)

const (
	// pollInterval is how often a watched run is read.
	pollInterval = 500 * time.Millisecond
	// runLineInterval is how often a line is printed where there is no terminal.
	runLineInterval = 10 * time.Second
	// maxServerAbsence is how long the server may be unreachable while a run is watched. A run
	// survives a restart of the server.
	maxServerAbsence = 2 * time.Minute
)

// watchRun watches a run until it ends: with a changing line on a terminal, with plain lines
// elsewhere, and with only the result as JSON. Interrupting it does not stop the run.
func watchRun(command *cobra.Command, server *client.Client, run client.Run) error {
	ctx, out := command.Context(), command.OutOrStdout()
	live := isTerminal(out) && !jsonWanted(command)
	var printed time.Time
	state, seen := "", time.Now()
	for {
		// A new reason is printed like a new state.
		switch changed := run.State+run.Reason != state; {
		case live:
			fmt.Fprintf(out, "\r\x1b[K%s", runProgressLine(run))
		case !jsonWanted(command) && (changed || time.Since(printed) >= runLineInterval):
			fmt.Fprintln(out, runProgressLine(run))
			printed = time.Now()
		}
		state = run.State + run.Reason
		if run.Ended() {
			break
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			if live {
				fmt.Fprintln(out)
			}
			// On standard error. Stopping to watch is not a failure.
			fmt.Fprintf(command.ErrOrStderr(), "landfall: run %s continues; watch it with: landfall run show %s --watch\n", run.ID, run.ID)
			return nil
		}
		next, err := server.Run(ctx, run.ID)
		// Retry if the server is unreachable; a refusal ends the command.
		switch _, refused := errors.AsType[*client.Error](err); {
		case err == nil:
			run, seen = next, time.Now()
		case ctx.Err() == nil && (refused || time.Since(seen) > maxServerAbsence):
			return err
		}
	}
	if live {
		fmt.Fprintln(out)
	}
	if err := printData(command, run, func(out io.Writer) { printRun(out, run) }); err != nil {
		return err
	}
	if run.Failed > 0 {
		return fmt.Errorf("%w: %d of %d accounts", errSomeFailed, run.Failed, run.Selected)
	}
	return nil
}

// barWidth is the width of the progress bar in characters.
const barWidth = 24

func runProgressLine(run client.Run) string {
	done := run.Selected - run.Remaining
	filled := barWidth
	// The bar of a run without accounts is full once the run has ended.
	if run.Selected > 0 {
		filled = barWidth * done / run.Selected
	} else if !run.Ended() {
		filled = 0
	}
	line := fmt.Sprintf("%s %s [%s%s] %d/%d", run.ID, run.State, strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), done, run.Selected)
	if run.Failed > 0 {
		line += fmt.Sprintf(", %d failed", run.Failed)
	}
	if run.Refused > 0 {
		line += fmt.Sprintf(", %d refused", run.Refused)
	}
	if run.AccountsPerSecond > 0 && !run.Ended() {
		line += fmt.Sprintf(", %.0f/s", run.AccountsPerSecond)
	}
	if run.ExpectedEnd != nil {
		line += ", until " + formatTime(*run.ExpectedEnd)
	}
	if run.Reason != "" {
		line += " (" + escapeText(run.Reason) + ")"
	}
	return line
}

// printRun prints all fields of a run.
func printRun(out io.Writer, run client.Run) {
	rows := [][]string{
		{"run", run.ID}, {"supplier", run.Supplier}, {"team", run.Team}, {"kind", runKind(run)}, {"state", run.State}, {"reason", run.Reason},
		{"selected", strconv.Itoa(run.Selected)}, {"succeeded", strconv.Itoa(run.Succeeded)}, {"failed", strconv.Itoa(run.Failed)},
		{"refused", strconv.Itoa(run.Refused)}, {"remaining", strconv.Itoa(run.Remaining)},
		{"created", formatTime(run.CreatedAt)}, {"started", formatTimePointer(run.StartedAt)}, {"ended", formatTimePointer(run.EndedAt)},
		{"expected end", formatTimePointer(run.ExpectedEnd)},
	}
	if run.Estimate != nil {
		rows = append(rows, []string{"estimate", fmt.Sprintf("%.1f %% pass (95 %%: %.1f to %.1f)",
			100*run.Estimate.Share, 100*run.Estimate.Low, 100*run.Estimate.High)})
	}
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(out, "%-13s %s\n", row[0], escapeText(row[1]))
		}
	}
}

// formatTimePointer formats an optional time; nil is empty.
func formatTimePointer(at *time.Time) string {
	if at == nil {
		return ""
	}
	return formatTime(*at)
}
