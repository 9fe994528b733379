package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/app"
)

// configCommand checks the settings before a server uses them.
func configCommand() *cobra.Command {
	check := &cobra.Command{
		Use: "check", Short: "Check the settings without contacting any service", Args: checkArguments(cobra.NoArgs),
		Long: "Read the settings as 'landfall serve' would, from flags, variables and the config\n" +
			"file, and the files they name, and report mistakes. No other service is contacted and\n" +
			"nothing is changed; 'landfall doctor' checks more.",
	}
	addSettings(check)
	// In the order of the documentation, which groups related settings.
	check.Flags().SortFlags = false
	check.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// All mistakes at once.
		if mistakes := app.Check(settings); len(mistakes) > 0 {
			return usageError{errors.Join(mistakes...)}
		}
		return printDone(command, map[string]any{"ok": true, "database": settings.DatabaseName(), "listen": settings.Listen},
			"The settings are valid: database %s, listening on %s.", settings.DatabaseName(), settings.Listen)
	}
	return commandGroup("config", "Check and print the settings of the service", check, configPrintCommand())
}

// configPrintCommand shows which of several values of a setting is used.
func configPrintCommand() *cobra.Command {
	type entry struct {
		Setting string `json:"setting" table:"SETTING"`
		Value   string `json:"value" table:"VALUE"`
		Source  string `json:"source" table:"SOURCE"`
	}
	var set bool
	command := &cobra.Command{
		Use: "print", Short: "Print every setting, its value and where it was set", Args: checkArguments(cobra.NoArgs),
		Long: "Print every setting as 'landfall serve' would use it, and where it was set: by a flag, a\n" +
			"variable, a line of the config file, or not at all (default). Secrets are masked.",
	}
	addSettings(command)
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&set, "set", false, "leave out settings that have their default")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if _, err := loadSettings(command); err != nil {
			return err
		}
		settings, err := app.Explain(command.Flags())
		if err != nil {
			return usageError{err}
		}
		entries := []entry{}
		for _, one := range settings {
			if !set || one.Source != app.DefaultSource {
				entries = append(entries, entry{one.Name, one.Value, one.Source})
			}
		}
		return printList(command, entries)
	}
	return command
}

var errProblemsFound = codeError{codeProblemsFound, errors.New("problems were found; see above")}

// doctorCommand checks everything a server needs.
func doctorCommand() *cobra.Command {
	type entry struct {
		What    string `json:"what"`
		Verdict string `json:"verdict"`
		Finding string `json:"finding"`
		Advice  string `json:"advice,omitempty"`
	}
	command := &cobra.Command{
		Use: "doctor", Short: "Check everything a server needs, and suggest fixes", Args: checkArguments(cobra.NoArgs),
		Long: "Check everything a server with these settings needs: files, certificate, database,\n" +
			"schema, clock, disk space, payment vendors, mail server. It changes nothing and can run\n" +
			"next to a server. Run it as the server's user, with its config file and variables. The\n" +
			"exit code is 1 if there is a problem.",
	}
	addSettings(command)
	command.Flags().SortFlags = false
	command.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Warnings do not change the exit code, so that the command can be used as a check before
		// every start.
		entries, problems := []entry{}, 0
		app.Examine(command.Context(), settings, func(d app.Diagnosis) {
			entries = append(entries, entry{d.Subject, string(d.Status), d.Finding, d.Advice})
			if d.Status == app.Problem {
				problems++
			}
		})
		// Print everything before returning the error.
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
