package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"landfall/internal/app"
)

// serveCommand runs the server. All settings are its flags, so that its help is
// the list of them.
func serveCommand() *cobra.Command {
	var demo bool
	command := &cobra.Command{
		Use: "serve", Short: "Run the service", Args: checkArguments(cobra.NoArgs),
		Long: "Run the service. The schema of the database is brought up to date first.\n\n" +
			"Every setting is a flag, or a variable with its name in capitals behind\n" +
			"LANDFALL_ (--max-body is LANDFALL_MAX_BODY), or a line of the config file.",
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			// A server must outlive its terminal and the reader of its log in order; short commands may
			// simply end with them.
			ctx, stop := app.Orderly(command.Context())
			defer stop()
			if demo {
				return serveDemo(ctx, command, settings)
			}
			log := app.NewLog(command.ErrOrStderr(), settings)
			// Deferred, so that it outlives the application, which may log until it is closed.
			defer log.Close()
			app.FitMemory(settings, log.Logger)
			application, err := app.New(ctx, settings, version, log)
			if err != nil {
				return classifyStartError(err)
			}
			// Listening comes after the database is ready, so that nobody connects to a server
			// that cannot answer. An address that cannot be had is a wrong setting.
			if _, err := application.Listen(ctx); err != nil {
				return errors.Join(usageError{fmt.Errorf("cannot listen: %w", err)}, application.Close())
			}
			return errors.Join(application.Run(ctx), application.Close())
		},
	}
	addSettings(command)
	command.Flags().SortFlags = false // the order they are declared in tells a story
	command.Flags().BoolVar(&demo, "demo", false, "serve a throw-away database with everything in it, and print what to type next")
	return command
}

// serveDemo serves a world that is gone at the end. A database of the user's is
// never used for it, not even by mistake.
func serveDemo(ctx context.Context, command *cobra.Command, settings app.Settings) error {
	if settings.Database != app.Defaults().Database {
		return usageError{errors.New("--demo makes a database of its own: leave --database away")}
	}
	if !command.Flags().Changed("log-format") {
		settings.LogFormat = "text" // somebody is watching
	}
	log := app.NewLog(command.ErrOrStderr(), settings)
	defer log.Close()
	app.FitMemory(settings, log.Logger)
	demo, err := app.NewDemo(ctx, settings, version, log)
	if err != nil {
		return classifyStartError(err)
	}
	// The tour calls this very program, wherever it was built.
	program, err := os.Executable()
	if err != nil {
		program = "landfall"
	}
	// The welcome is for whoever watches; the tour alone is on standard output, to be kept in a
	// file.
	fmt.Fprintln(command.ErrOrStderr(), demo.Welcome())
	if err := demo.Tour(command.OutOrStdout(), program); err != nil {
		return errors.Join(err, demo.Close())
	}
	return errors.Join(demo.Run(ctx), demo.Close())
}

// classifyStartError tells a wrong setting from a database that cannot be used.
func classifyStartError(err error) error {
	if errors.As(err, &app.SettingError{}) {
		return usageError{err}
	}
	return unreachableError{err}
}
