package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the semantic version of the program. The Makefile and the release read it here.
const version = "1.0.0"

// commit is set by the build. Without it, the go command knows the commit.
var commit string

// sourceCommit returns the commit that the program was built from, or "unknown".
func sourceCommit() string {
	if commit != "" {
		return commit
	}
	found, changed := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision" && len(setting.Value) >= shortCommit:
				found = setting.Value[:shortCommit]
			case setting.Key == "vcs.modified" && setting.Value == "true":
				changed = "-dirty"
			}
		}
	}
	return found + changed
}

// shortCommit is how many characters of a commit are shown.
const shortCommit = 12

func programName() string { return "landfall " + version }

// versionCommand prints more than --version with --json.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print which build this is", Args: checkArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			build := struct {
				Version  string `json:"version"`
				Commit   string `json:"commit"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version, sourceCommit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return printData(command, build, func(out io.Writer) { fmt.Fprintln(out, versionLine()) })
		},
	}
}

// versionLine identifies the build; it belongs in every bug report.
func versionLine() string {
	return fmt.Sprintf("landfall %s (commit %s, %s, %s/%s)", version, sourceCommit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
