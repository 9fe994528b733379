package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return listing(&cobra.Command{
		Use: "version", Short: "Print which build this is", Args: usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			build := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
			}{version, runtime.Version()}
			return show(command, build, func(out io.Writer) {
				fmt.Fprintf(out, "landfall %s (%s, %s/%s)\n", version, build.Go, runtime.GOOS, runtime.GOARCH)
			})
		},
	})
}
