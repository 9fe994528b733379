package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"landfall/internal/app"
)

// serveCommand runs the server. All settings are its flags.
func serveCommand() *cobra.Command {
	var demo bool
	command := &cobra.Command{
		Use: "serve", Short: "Run the service", Args: checkArguments(cobra.NoArgs),
		Long: "Run the service. The database schema is updated first.\n\n" +
			"Every setting is a flag, an environment variable with the prefix LANDFALL_\n" +
			"(--max-body is LANDFALL_MAX_BODY), or a line of the config file.",
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			// A server must shut down in order when its terminal or the reader of its log goes
			// away. Without a terminal, SIGHUP reloads the settings.
			ctx, reload, stop := app.ServerContext(command.Context())
			defer stop()
			if demo {
				return serveDemo(ctx, command, settings)
			}
			log := app.NewLog(command.ErrOrStderr(), settings)
			// Closed after the application, which may log until it is closed.
			defer log.Close()
			app.FitMemory(settings, log.Logger)
			application, err := app.New(ctx, settings, version, log)
			if err != nil {
				return classifyStartError(err)
			}
			// Listen only once the database is ready. An unusable address is a wrong setting.
			if _, err := application.Listen(ctx); err != nil {
				return errors.Join(usageError{fmt.Errorf("cannot listen: %w", err)}, application.Close())
			}
			go application.ReloadOn(ctx, reload, func() (app.Settings, error) { return app.Load(command.Flags()) })
			return errors.Join(application.Run(ctx), application.Close())
		},
	}
	addSettings(command)
	command.Flags().SortFlags = false // in the order of the documentation
	command.Flags().BoolVar(&demo, "demo", false, "serve a temporary database with sample data, and print what to try next")
	return command
}

// serveDemo serves a temporary database. It never uses a real one, not even by mistake.
func serveDemo(ctx context.Context, command *cobra.Command, settings app.Settings) error {
	if settings.Database != app.Defaults().Database {
		return usageError{errors.New("--demo cannot be combined with --database")}
	}
	if !command.Flags().Changed("log-format") {
		settings.LogFormat = "text" // for a person at a terminal
	}
	log := app.NewLog(command.ErrOrStderr(), settings)
	defer log.Close()
	app.FitMemory(settings, log.Logger)
	demo, err := app.NewDemo(ctx, settings, version, log)
	if err != nil {
		return classifyStartError(err)
	}
	// The commands of the tour call this program, wherever it was built.
	program, err := os.Executable()
	if err != nil {
		program = "landfall"
	}
	// Only the tour goes to standard output, so that it can be saved to a file.
	fmt.Fprintln(command.ErrOrStderr(), demo.Welcome())
	if err := demo.Tour(command.OutOrStdout(), program); err != nil {
		return errors.Join(err, demo.Close())
	}
	return errors.Join(demo.Run(ctx), demo.Close())
}

// classifyStartError distinguishes a wrong setting from an unusable database.
func classifyStartError(err error) error {
	if errors.As(err, &app.SettingError{}) {
		return usageError{err}
	}
	return unreachableError{err}
}
