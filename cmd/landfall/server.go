package main

import (
	"errors"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"landfall/client"
)

// onServer completes a command that talks to a server, as integrators do.
func onServer(command *cobra.Command, work func(*cobra.Command, *client.Client, []string) error) *cobra.Command {
	flags := command.Flags()
	flags.String("server", "", "base URL of the server (or LANDFALL_SERVER; default http://127.0.0.1:8080)")
	flags.String("api-key", "", "the API key; better in LANDFALL_API_KEY, where no list of processes shows it")
	flags.String("api-key-file", "", "file with the API key")
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

// newClient makes the client of commands that talk to a server, from flags or
// else from the environment. A key in an argument can be read by everybody on
// the machine, so the environment is what the handbook shows.
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
	// A file that was named goes before a variable that was perhaps forgotten.
	if path, _ := command.Flags().GetString("api-key-file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, usageError{err}
		}
		key = string(text)
	}
	if key == "" {
		return nil, usageError{errors.New("an API key is needed: set LANDFALL_API_KEY, or give --api-key-file or --api-key")}
	}
	server, err := client.New(address, client.WithKey(key), client.WithAgent("landfall/"+version))
	// An address that cannot be one is wrong usage, and is told before anything is sent.
	if err != nil {
		return nil, usageError{err}
	}
	return server, nil
}

// classifyServerError marks a server that is not there, for the exit code.
func classifyServerError(err error) error {
	// A server that refuses is there.
	if _, refused := errors.AsType[*client.Error](err); refused {
		return err
	}
	if _, network := errors.AsType[*url.Error](err); network {
		return unreachableError{err}
	}
	return err
}
