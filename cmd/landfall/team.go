package main

import (
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

// teamCommand holds the teams that accounts are created for. They are named in
// requests, so they have to exist first, and none is ever taken away.
func teamCommand() *cobra.Command {
	return commandGroup("team", "Operations teams that look after created accounts", teamCreate(), teamList())
}

// teamCreate makes a team with a name that no other has.
func teamCreate() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "create NAME", Short: "Make a team", Args: checkArguments(cobra.ExactArgs(1)),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// A name that is taken is refused by the verb, since another process may have taken it
		// just now.
		if err := operator.CreateTeam(command.Context(), args[0]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "team.create", "name": args[0]}, "Team %q made.", args[0])
	})
}

// teamList shows the names as requests must spell them.
func teamList() *cobra.Command {
	type entry struct {
		Name      string `json:"name"`
		CreatedAt string `json:"created_at"`
	}
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all teams", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		teams, err := operator.Teams(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []entry{}, [][]string{}
		for _, team := range teams {
			entries = append(entries, entry{team.Name, formatTime(team.CreatedAt)})
			rows = append(rows, []string{team.Name, formatTime(team.CreatedAt)})
		}
		return printData(command, entries, func(out io.Writer) { printTable(out, []string{"NAME", "CREATED"}, rows) })
	})
}
