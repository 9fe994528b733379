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
	"landfall/internal/kit/report"
)

// demoCommand imports a generated book into a temporary server.
func demoCommand() *cobra.Command {
	accounts := 3000
	command := &cobra.Command{
		Use: "demo", Short: "Watch a generated book being imported into a temporary server", Args: checkArguments(cobra.NoArgs),
		Long: "Generate a book of accounts with mistakes in it, start a server with a temporary\n" +
			"database, and import the book while you watch. The server keeps running, and the demo\n" +
			"prints commands that you can paste into a second terminal. Press Ctrl-C to stop; all\n" +
			"data is deleted.",
		RunE: func(command *cobra.Command, _ []string) error {
			// Checked before a server is started. The names do not matter yet.
			if err := demoBook(accounts, "S", "V").Check(); err != nil {
				return usageError{err}
			}
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			// Set after loading, so that no flag or variable can make the demo write into a real
			// database.
			settings.Database = app.Defaults().Database
			// Log lines would disturb the output on the terminal.
			settings.LogFormat, settings.LogLevel = "text", slog.LevelWarn
			ctx, stop := app.SignalContext(command.Context())
			defer stop()
			return runDemo(ctx, command, settings, accounts)
		},
	}
	addSettings(command, "listen")
	command.Flags().IntVar(&accounts, "accounts", accounts, "number of accounts in the book")
	completeFlag(command, "accounts", noCompletion)
	return command
}

// runDemo starts the server, imports the book, and keeps serving.
func runDemo(ctx context.Context, command *cobra.Command, settings app.Settings, accounts int) error {
	// Log lines and the progress of the import share the terminal.
	output := &sharedOutput{out: command.ErrOrStderr()}
	log := app.NewLog(output, settings)
	defer log.Close()
	app.FitMemory(settings, log.Logger)
	demo, err := app.NewDemo(ctx, settings, version, log)
	if err != nil {
		return classifyStartError(err)
	}
	ctx, stop := context.WithCancel(ctx)
	// Buffered, because the server may end after nobody waits for it.
	served := make(chan error, 1)
	go func() { served <- demo.Run(ctx) }()
	err = importDemoBook(ctx, command, demo, accounts, output)
	if err != nil {
		stop() // there is nothing to look at
	}
	// Always wait for the server and remove its data.
	err = errors.Join(err, <-served, demo.Close())
	stop()
	if errors.Is(err, context.Canceled) && command.Context().Err() != nil {
		return nil // Ctrl-C is not a failure
	}
	return err
}

// importDemoBook generates the book, imports it, and prints what to do next.
func importDemoBook(ctx context.Context, command *cobra.Command, demo *app.Demo, accounts int, output *sharedOutput) error {
	out := command.OutOrStdout()
	info := demo.Info()
	folder := filepath.Join(info.Folder, "book")
	order := demoBook(accounts, info.Supplier, info.Vendor)
	fmt.Fprintf(out, "Landfall runs at %s with a temporary database. Press Ctrl-C to stop it and delete all data.\n%s\n\n", info.Base, demo.Console())
	printed, err := order.WriteBook(ctx, folder, "", func(int) {})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s Importing it:\n\n", describeDemoBook(accounts, printed.Faults))
	found, err := book.Open(folder)
	if err != nil {
		return err
	}
	server, err := client.New(info.Base, client.WithKey(info.Key), client.WithAgent("landfall/"+version))
	if err != nil {
		return err
	}
	watcher := newImportWatcher(command)
	watcher.share(output)
	moving, err := importer.New(server, importer.Options{Book: found, Folder: folder, Team: info.Team, Program: programName(), Watched: true}, watcher)
	if err != nil {
		return err
	}
	result, err := moving.Run(ctx)
	watcher.done()
	if err = errors.Join(err, moving.Close()); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printImport(command, result); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", explainDemoFigures(accounts, result))
	return printNextSteps(out, demo, info, folder, result)
}

// describeDemoBook says how many accounts have a mistake, and what becomes of them.
func describeDemoBook(accounts int, faults map[string]int) string {
	faulty := 0
	for _, count := range faults {
		faulty += count
	}
	lost, same, orphans := faults["lost"], faults["number"], faults["orphan"]
	return fmt.Sprintf("Generated a book of %s accounts, %s of them with a mistake: %s left out of the book, %s with the number of the account before, "+
		"%s whose note names an unknown account, and %s that the server will refuse.",
		report.Number(accounts), report.Number(faulty), report.Number(lost), report.Number(same), report.Number(orphans), report.Number(faulty-lost-same-orphans))
}

// explainDemoFigures shows how the figures of the table add up to the accounts of the book.
func explainDemoFigures(accounts int, result importer.Result) string {
	lines, run := result.Tallies["accounts"], result.Tallies[importer.PhaseRun]
	return fmt.Sprintf("How this adds up: %s accounts − %s left out = %s lines. %s lines − %s refused = %s staged. "+
		"%s staged − %s with a number that was staged before = %s in the run.",
		report.Number(accounts), report.Number(accounts-lines.Lines), report.Number(lines.Lines),
		report.Number(lines.Lines), report.Number(lines.Failed), report.Number(lines.Done),
		report.Number(lines.Done), report.Number(lines.Done-run.Lines), report.Number(run.Lines))
}

// demoPrefix starts the account numbers of the old system, so that nobody takes them for those of the
// platform, which start with A-.
const demoPrefix = "OLD-"

// demoBook is a book with typical mistakes of old systems.
func demoBook(accounts int, supplier, vendor string) generate.Options {
	order := generate.Options{Accounts: accounts, Seed: 1, Supplier: supplier, AsOf: generate.DefaultAsOf, Vendor: vendor, Prefix: demoPrefix}
	// A few of each kind, so that the report shows every kind and most accounts can still be
	// created.
	for _, kind := range generate.CommonFaultKinds(false) {
		order.Faults = append(order.Faults, generate.Fault{Kind: kind[0], Share: 0.003})
	}
	return order
}

// printNextSteps prints commands for a second terminal. The tour of single calls is written to a
// file.
func printNextSteps(out io.Writer, demo *app.Demo, info app.DemoInfo, folder string, result importer.Result) error {
	// The commands call this program, wherever it was built.
	program, err := os.Executable()
	if err != nil {
		program = "landfall"
	}
	// The file contains a key, so only its owner may read it.
	tour := filepath.Join(info.Folder, "tour.sh")
	file, err := os.OpenFile(tour, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(demo.Tour(file, program), file.Close()); err != nil {
		return err
	}
	run := app.Quote(program)
	// Each command works by itself once the first one was pasted.
	steps := [][2]string{
		{"Prepare a second terminal (bash or zsh)", fmt.Sprintf("export LANDFALL_SERVER=%s LANDFALL_API_KEY=%s LANDFALL_DATABASE=%s",
			info.Base, info.Key, app.Quote(info.Database))},
		{"Compare the book with the server, with a key that can read whole accounts", "LANDFALL_API_KEY=" + info.ReaderKey + " " + run + " reconcile " + app.Quote(folder)},
		{"List why accounts failed", run + " account errors " + info.Supplier},
		{"Show an account as support sees it", run + " account show " + info.Supplier + " " + demoPrefix + "1000001"},
		{"Check the book without a server", run + " validate " + app.Quote(folder)},
		{"Fix the lines in failed/, then import them again", run + " import " + app.Quote(filepath.Join(result.Folder, "failed")) +
			" --team " + app.Quote(info.Team)},
		{"Verify that every ledger adds up", run + " verify"},
		{"Take a tour of single calls with curl", "sh " + app.Quote(tour)},
	}
	fmt.Fprint(out, "\nNext steps:\n")
	for _, step := range steps {
		fmt.Fprintf(out, "\n  %s:\n    %s\n", step[0], strings.TrimSpace(step[1]))
	}
	_, err = fmt.Fprintf(out, "\nThe API reference is at %s/docs/. The server runs until you press Ctrl-C.\n", info.Base)
	return err
}
