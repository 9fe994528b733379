package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/operate"
)

func organisationCommand() *cobra.Command {
	return group("organisation", "Organisations that call the API",
		organisationChange("create", "Make an organisation", "made", (*operate.Operator).CreateOrganisation),
		organisationChange("disable", "Shut an organisation out; its keys and tokens stop working", "disabled", (*operate.Operator).DisableOrganisation),
		organisationChange("enable", "Let a disabled organisation in again", "enabled", (*operate.Operator).EnableOrganisation),
		organisationList())
}

func organisationChange(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	known := organisations
	if verb == "create" {
		known = nothing
	}
	return onDatabase(&cobra.Command{
		Use: verb + " NAME", Short: short, Args: usage(cobra.ExactArgs(1)), ValidArgsFunction: words(known),
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		if err := change(operator, command.Context(), arguments[0]); err != nil {
			return err
		}
		return say(command, map[string]string{"action": "organisation." + verb, "name": arguments[0]}, "Organisation %q %s.", arguments[0], done)
	})
}

func organisationList() *cobra.Command {
	type entry struct {
		Name      string `json:"name"`
		Disabled  bool   `json:"disabled"`
		CreatedAt string `json:"created_at"`
	}
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all organisations", Args: usage(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		organisations, err := operator.Organisations(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []entry{}, [][]string{}
		for _, one := range organisations {
			entries = append(entries, entry{one.Name, one.Disabled, instant(one.CreatedAt)})
			rows = append(rows, []string{one.Name, yesNo(one.Disabled), instant(one.CreatedAt)})
		}
		return show(command, entries, func(out io.Writer) { table(out, []string{"NAME", "DISABLED", "CREATED"}, rows) })
	})
}
