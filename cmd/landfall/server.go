package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"landfall/client"
)

// onServer completes a command that uses the API of a server.
func onServer(command *cobra.Command, work func(*cobra.Command, *client.Client, []string) error) *cobra.Command {
	flags := command.Flags()
	flags.String("server", "", "base URL of the server (or LANDFALL_SERVER; default http://127.0.0.1:8080)")
	flags.String("api-key", "", "the API key; prefer LANDFALL_API_KEY, which is not visible in the process list")
	flags.String("api-key-file", "", "file with the API key")
	flags.Bool("insecure", false, "allow plain http to another machine; anyone on the way can read the key")
	completeFlag(command, "server", noCompletion)
	completeFlag(command, "api-key", noCompletion)
	command.RunE = func(command *cobra.Command, args []string) error {
		server, err := newClient(command)
		if err != nil {
			return err
		}
		return work(command, server, args)
	}
	return command
}

// newClient makes a client from flags or environment variables.
func newClient(command *cobra.Command) (*client.Client, error) {
	address, _ := command.Flags().GetString("server")
	if address == "" {
		address = os.Getenv("LANDFALL_SERVER")
	}
	if address == "" {
		address = "http://127.0.0.1:8080"
	}
	key, _ := command.Flags().GetString("api-key")
	if key == "" {
		key = os.Getenv("LANDFALL_API_KEY")
	}
	// A file named by flag overrides the variable.
	if path, _ := command.Flags().GetString("api-key-file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, usageError{err}
		}
		key = string(text)
	}
	if key == "" {
		return nil, usageError{errors.New("an API key is required: set LANDFALL_API_KEY, or use --api-key-file or --api-key")}
	}
	settings := []client.Option{client.WithKey(key), client.WithAgent("landfall/" + version)}
	if insecure, _ := command.Flags().GetBool("insecure"); insecure {
		settings = append(settings, client.WithInsecure())
	}
	server, err := client.New(address, settings...)
	if errors.Is(err, client.ErrInsecure) {
		return nil, usageError{fmt.Errorf("%w: --insecure", err)}
	}
	if err != nil {
		return nil, usageError{err}
	}
	return server, nil
}

// classifyServerError marks an unreachable server, for the exit code.
func classifyServerError(err error) error {
	// A server that refuses is reachable.
	if _, refused := errors.AsType[*client.Error](err); refused {
		return err
	}
	if _, network := errors.AsType[*url.Error](err); network {
		return unreachableError{err}
	}
	return err
}
