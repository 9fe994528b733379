package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/lib/handbook"
)

// handbookCommand writes the handbook as files.
func handbookCommand() *cobra.Command {
	return &cobra.Command{
		Use: "handbook FOLDER", Short: "Write the handbook as a web site into a folder", Args: checkArguments(cobra.ExactArgs(1)),
		Long: "Write the handbook as a web site into a folder. The files need no server: open\n" +
			"index.html. A running server shows the same site under /docs/handbook/.",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(command *cobra.Command, args []string) error {
			site, err := handbook.Build(landfall.Handbook)
			if err != nil {
				return err
			}
			folder := args[0]
			if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the handbook is for everybody
				return usageError{err}
			}
			for name, file := range site {
				err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), file.Content, 0o644)) //nolint:gosec // the handbook is for everybody
			}
			if err != nil {
				return err
			}
			result := struct {
				Folder string `json:"folder"`
				Files  int    `json:"files"`
			}{folder, len(site)}
			return printDone(command, result, "Wrote %d files. Start with %s", len(site), filepath.Join(folder, handbook.FrontPage))
		},
	}
}
