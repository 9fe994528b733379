package main

import (
	"context"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// teamCommand groups the commands for operations teams. Requests name a team, so it has to exist
// first. Teams are never removed.
func teamCommand() *cobra.Command {
	return commandGroup("team", "Manage the operations teams of created accounts", teamCreate(), teamList())
}

func teamCreate() *cobra.Command {
	return changeCommand("team.create", &cobra.Command{Use: "create NAME", Short: "Create a team"}, "name",
		func(operator *operate.Operator, ctx context.Context, args []string) error {
			return operator.CreateTeam(ctx, args[0])
		},
		"Created team %q.")
}

// teamList lists the teams as requests must spell them.
func teamList() *cobra.Command {
	type entry struct {
		Name      string `json:"name" table:"NAME"`
		CreatedAt string `json:"created_at" table:"CREATED"`
	}
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all teams", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		teams, err := operator.Teams(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(teams, func(team landfall.Team) entry { return entry{team.Name, formatTime(team.CreatedAt)} }))
	})
}
