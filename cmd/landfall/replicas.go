package main

import (
	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// replicasCommand lists the servers of a database.
func replicasCommand() *cobra.Command {
	type entry struct {
		Name      string `json:"name" table:"NAME"`
		Version   string `json:"version" table:"VERSION"`
		StartedAt string `json:"started_at" table:"STARTED"`
		SeenAt    string `json:"seen_at" table:"SEEN"`
		Doing     string `json:"doing" table:"DOING"`
	}
	return onDatabase(&cobra.Command{
		Use: "replicas", Short: "List the servers that are running", Args: checkArguments(cobra.NoArgs),
		Long: "List the servers that use the database, with their versions and what they are doing.\n" +
			"Each reports itself every ten seconds; one that was killed is listed for another minute.\n" +
			"The name is also in PostgreSQL's list of connections (application_name) and in\n" +
			"telemetry (service.instance.id).",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Replicas(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, func(one landfall.Replica) entry {
			return entry{one.Name(), one.Version, formatTime(one.StartedAt), formatTime(one.SeenAt), one.Doing}
		}))
	})
}
