package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"landfall/client"
	"landfall/internal/app"
	"landfall/internal/kit/book"
	"landfall/internal/kit/generate"
	"landfall/internal/kit/importer"
)

// demoCommand shows a whole book on the move, in a world that is gone at the end.
func demoCommand() *cobra.Command {
	accounts := 3000
	command := &cobra.Command{
		Use: "demo", Short: "Watch a generated book move onto a throw-away server", Args: checkArguments(cobra.NoArgs),
		Long: "Make a book of accounts with mistakes in it, start a server with a throw-away\n" +
			"database, and move the one onto the other while you watch. Then the server stays,\n" +
			"and what to look at next is printed, each line ready to be pasted into a second\n" +
			"terminal. Ctrl-C ends it and forgets everything.",
		RunE: func(command *cobra.Command, _ []string) error {
			// Before a server is started for nothing; the names do not matter yet.
			if err := demoBook(accounts, "S", "V").Check(); err != nil {
				return usageError{err}
			}
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			// Set after loading, so that neither a flag nor a variable of the user's can make
			// this write into his database.
			settings.Database = app.Defaults().Database // one of its own, whatever is set
			// The show is on this terminal; a log line in the middle of it helps nobody.
			settings.LogFormat, settings.LogLevel = "text", slog.LevelWarn
			ctx, stop := app.Orderly(command.Context())
			defer stop()
			return runDemo(ctx, command, settings, accounts)
		},
	}
	addSettings(command, "listen")
	command.Flags().IntVar(&accounts, "accounts", accounts, "how many accounts the book has")
	completeFlag(command, "accounts", noCompletion)
	return command
}

// runDemo serves, moves the book meanwhile, and goes on serving.
func runDemo(ctx context.Context, command *cobra.Command, settings app.Settings, accounts int) error {
	log := app.NewLog(command.ErrOrStderr(), settings)
	defer log.Close()
	app.FitMemory(settings, log.Logger)
	demo, err := app.NewDemo(ctx, settings, version, log)
	// A demo that does not start ends with the exit codes that serve has.
	if err != nil {
		return classifyStartError(err)
	}
	ctx, stop := context.WithCancel(ctx)
	// With room for one: the server may end when nobody listens any more.
	served := make(chan error, 1)
	go func() { served <- demo.Run(ctx) }()
	err = importDemoBook(ctx, command, demo, accounts)
	if err != nil {
		stop() // there is nothing to look at
	}
	// The server is waited for and its world closed in any case, so that nothing is left behind.
	err = errors.Join(err, <-served, demo.Close())
	stop()
	// An end on request is no failure, whatever was under way.
	if errors.Is(err, context.Canceled) && command.Context().Err() != nil {
		return nil // whoever pressed Ctrl-C knows
	}
	return err
}

// importDemoBook is the show: the book, its way, and what to look at next.
func importDemoBook(ctx context.Context, command *cobra.Command, demo *app.Demo, accounts int) error {
	out := command.OutOrStdout()
	furniture := demo.Furniture()
	folder := filepath.Join(furniture.Folder, "book")
	order := demoBook(accounts, furniture.Supplier, furniture.Vendor)
	fmt.Fprintf(out, "Landfall runs at %s with a throw-away database. Ctrl-C ends it and forgets everything.\n%s\n\n", furniture.Base, demo.Console())
	// Printed without telling how far it is: at the usual size it is over in a moment.
	printed, err := order.Print(ctx, folder, "", func(int) {})
	if err != nil {
		return err
	}
	spoiled := 0
	for _, count := range printed.Faults {
		spoiled += count
	}
	fmt.Fprintf(out, "A book of %d accounts was made up, %d of them with a mistake. Now it moves:\n\n", accounts, spoiled)
	found, err := book.Open(folder)
	if err != nil {
		return err
	}
	server, err := client.New(furniture.Base, client.WithKey(furniture.Key), client.WithAgent("landfall/"+version))
	if err != nil {
		return err
	}
	watcher := newImportWatcher(command)
	// Watched, because to be watched is what a demo is for.
	moving, err := importer.New(server, importer.Order{Book: found, Folder: folder, Team: furniture.Team, Watched: true}, watcher)
	if err != nil {
		return err
	}
	result, err := moving.Move(ctx)
	watcher.done()
	if err = errors.Join(err, moving.Close()); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printImport(command, result); err != nil {
		return err
	}
	return printNextSteps(out, demo, furniture, folder, result)
}

// demoBook is a book with mistakes that old systems make, few of each kind.
func demoBook(accounts int, supplier, vendor string) generate.Order {
	order := generate.Order{Accounts: accounts, Seed: 1, Supplier: supplier, AsOf: generate.DefaultAsOf, Vendor: vendor}
	// Few of each kind, so that the report has something of everything and most accounts still
	// move.
	for _, kind := range generate.FaultKinds() {
		order.Faults = append(order.Faults, generate.Fault{Kind: kind[0], Share: 0.003})
	}
	return order
}

// printNextSteps prints what to type in a second terminal. The tour of single calls
// is a file, for whoever wants it.
func printNextSteps(out io.Writer, demo *app.Demo, furniture app.Furniture, folder string, result importer.Result) error {
	// The lines call this very program, wherever it was built.
	program, err := os.Executable()
	if err != nil {
		program = "landfall"
	}
	// It holds a key, so only its owner may read it.
	tour := filepath.Join(furniture.Folder, "tour.sh")
	file, err := os.OpenFile(tour, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(demo.Tour(file, program), file.Close()); err != nil {
		return err
	}
	run := app.Quote(program)
	// Each line works by itself once the first one was pasted, and they are in the order of a
	// story.
	steps := [][2]string{
		{"Prepare a second terminal (bash or zsh)", fmt.Sprintf("export LANDFALL_SERVER=%s LANDFALL_API_KEY=%s LANDFALL_DATABASE=%s",
			furniture.Base, furniture.Key, app.Quote(furniture.Database))},
		{"Hold the book against the server", run + " reconcile " + app.Quote(folder)},
		{"What keeps accounts back", run + " account errors " + furniture.Supplier},
		{"See an account as support does", run + " account show " + furniture.Supplier + " A-1000001"},
		{"Check the book without a server", run + " validate " + app.Quote(folder)},
		{"Mend the lines in failed/, then send them again", run + " import " + app.Quote(filepath.Join(result.Folder, "failed")) +
			" --team " + app.Quote(furniture.Team)},
		{"Prove that every ledger adds up", run + " verify"},
		{"A tour of single calls with curl", "sh " + app.Quote(tour)},
	}
	fmt.Fprint(out, "\nWhat to look at next, a line at a time:\n")
	for _, step := range steps {
		fmt.Fprintf(out, "\n  %s:\n    %s\n", step[0], strings.TrimSpace(step[1]))
	}
	_, err = fmt.Fprintf(out, "\nThe API reference is at %s/docs/. The server goes on until Ctrl-C.\n", furniture.Base)
	return err
}
