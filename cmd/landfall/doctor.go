package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/app"
)

// configCommand is for those who change settings and want to know before the
// server does.
func configCommand() *cobra.Command {
	check := &cobra.Command{
		Use: "check", Short: "Say whether the settings can be used, without asking anybody", Args: checkArguments(cobra.NoArgs),
		Long: "Read the settings as 'landfall serve' would, from flags, variables and the config\n" +
			"file, and the files they name, and say what is wrong with them. Nobody is asked and\n" +
			"nothing is changed; 'landfall doctor' goes further.",
	}
	addSettings(check)
	// In the order of the documentation, where what belongs together is together.
	check.Flags().SortFlags = false
	check.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// All mistakes at once: whoever mends a file does not want to be told of the next one
		// each time.
		if mistakes := app.Check(settings); len(mistakes) > 0 {
			return usageError{errors.Join(mistakes...)}
		}
		return printDone(command, map[string]any{"ok": true, "database": settings.DatabaseName(), "listen": settings.Listen},
			"The settings can be used: database %s, listening on %s.", settings.DatabaseName(), settings.Listen)
	}
	return commandGroup("config", "The settings of the service", check)
}

// errProblemsFound is the end of an examination that found a problem.
var errProblemsFound = errors.New("something needs you: see above")

// doctorCommand looks at everything a server needs.
func doctorCommand() *cobra.Command {
	type entry struct {
		What    string `json:"what"`
		Verdict string `json:"verdict"`
		Finding string `json:"finding"`
		Advice  string `json:"advice,omitempty"`
	}
	command := &cobra.Command{
		Use: "doctor", Short: "Look at everything a server needs, and say what to do about it", Args: checkArguments(cobra.NoArgs),
		Long: "Look at everything a server with these settings needs: files, certificate, database,\n" +
			"schema, clock, disk space, payment vendors, mail server. It changes nothing and may run\n" +
			"beside a server. Run it as the server's user, with its config file and variables. The exit\n" +
			"code is 1 when there is a problem.",
	}
	addSettings(command)
	command.Flags().SortFlags = false
	command.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Warnings are shown and leave the exit code alone, or nobody could use it in a check
		// before every start.
		entries, problems := []entry{}, 0
		app.Examine(command.Context(), settings, func(d app.Diagnosis) {
			entries = append(entries, entry{d.What, string(d.Verdict), d.Finding, d.Advice})
			if d.Verdict == app.Bad {
				problems++
			}
		})
		// Shown before the verdict becomes an error, so that machines have the whole list on
		// standard output.
		err = printData(command, entries, func(out io.Writer) {
			for _, e := range entries {
				fmt.Fprintf(out, "%-8s %s: %s\n", e.Verdict, escapeText(e.What), escapeText(e.Finding))
				if e.Advice != "" {
					fmt.Fprintf(out, "         → %s\n", escapeText(e.Advice))
				}
			}
		})
		if err == nil && problems > 0 {
			err = errProblemsFound
		}
		return err
	}
	return command
}
