package main

import (
	"github.com/spf13/cobra"

	"landfall/internal/httpapi"
)

func openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the API description (OpenAPI 3.1, JSON)", Args: usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := command.OutOrStdout().Write(httpapi.OpenAPI())
			return err
		},
	}
}
