package main

import "github.com/spf13/cobra"

// runCommand holds what an operator decides about runs.
func runCommand() *cobra.Command {
	return group("run", "Runs, in which the service creates a supplier's accounts by itself", runUndo())
}
