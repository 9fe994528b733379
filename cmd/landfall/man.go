package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes manual pages, for packagers. It is hidden from the help.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: checkArguments(cobra.ExactArgs(1)), Hidden: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(command *cobra.Command, args []string) error {
			folder := args[0]
			if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return usageError{err}
			}
			header := doc.GenManHeader{Section: "1", Source: "landfall " + version, Manual: "Landfall", Date: commitTime()}
			if err := doc.GenManTree(command.Root(), &header, folder); err != nil {
				return err
			}
			// Counted on disk, because GenManTree does not return the number of pages.
			pages, err := filepath.Glob(filepath.Join(folder, "landfall*.1"))
			if err != nil {
				return err
			}
			result := struct {
				Folder string `json:"folder"`
				Pages  int    `json:"pages"`
			}{folder, len(pages)}
			return printDone(command, result, "Wrote %d manual pages. Read the first with: man %s", len(pages), filepath.Join(folder, "landfall.1"))
		},
	}
}

// commitTime is the time of the commit, so that the same commit gives the same pages.
func commitTime() *time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if at, err := time.Parse(time.RFC3339, setting.Value); setting.Key == "vcs.time" && err == nil {
				return &at
			}
		}
	}
	return nil // the current day
}
