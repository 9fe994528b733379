package main

import (
	"github.com/spf13/cobra"

	"landfall/internal/api/httpapi"
)

// openapiCommand prints the API description that servers serve under /openapi.json.
func openapiCommand() *cobra.Command {
	var packs []string
	command := &cobra.Command{
		Use: "openapi", Short: "Print the API description (OpenAPI 3.1, JSON)", Args: checkArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			schema, err := openPacks(packs)
			if err != nil {
				return err
			}
			// Byte for byte what is checked in and served, so that it can be compared.
			_, err = command.OutOrStdout().Write(httpapi.OpenAPIOf(schema))
			return err
		},
	}
	packFlag(command, &packs)
	return command
}
