package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the build.
var version = "development"

// programName is the program in reports.
func programName() string { return "landfall " + version }

// versionCommand prints more than --version with --json.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print which build this is", Args: checkArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			build := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return printData(command, build, func(out io.Writer) { fmt.Fprintln(out, versionLine()) })
		},
	}
}

// versionLine identifies the build; it belongs in every bug report.
func versionLine() string {
	return fmt.Sprintf("landfall %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
