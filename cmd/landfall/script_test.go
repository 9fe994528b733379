package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// TestMain installs the test binary under the names that scripts call. The library would not let
// scripts define a command with the name of an installed program, so it only installs the worker.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "landfall" {
		main()
	}
	testscript.Main(installed{m}, map[string]func(){workerName: runWorker})
}

// installed runs the tests with the program on the path.
type installed struct{ *testing.M }

// Run installs the program next to the worker.
func (m installed) Run() int {
	worker, err := exec.LookPath(workerName)
	if err == nil {
		err = os.Link(worker, filepath.Join(filepath.Dir(worker), "landfall")) // os.Executable must return this name
	}
	if err != nil {
		panic(err)
	}
	return m.M.Run()
}

// aboutDatabases are the scripts about databases. The others use one, but the store and the API
// are tested on both elsewhere, so make test runs them only on SQLite.
var aboutDatabases = []string{"backup", "broken", "copy", "doctor", "encryption", "full", "json", "purge", "restore-operators", "schema", "undo"}

// TestScripts runs every script on SQLite and those about databases on PostgreSQL. The database is a
// setting, so a script need not know which one it uses.
func TestScripts(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { runScripts(t, "sqlite", func(string) bool { return true }) })
	t.Run("postgres", func(t *testing.T) {
		runScripts(t, "postgres", func(script string) bool { return slices.Contains(aboutDatabases, script) })
	})
}

// TestOtherScriptsOnPostgres runs the scripts that TestScripts does not run on PostgreSQL.
func TestOtherScriptsOnPostgres(t *testing.T) {
	tooltest.SkipIfShort(t)
	runScripts(t, "postgres", func(script string) bool { return !slices.Contains(aboutDatabases, script) })
}

// runScripts runs the chosen scripts on one kind of database.
func runScripts(t *testing.T, kind string, chosen func(script string) bool) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scripts = slices.DeleteFunc(scripts, func(file string) bool {
		return !chosen(strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("LANDFALL_DATABASE", scriptDatabase(t, kind, env.WorkDir))
			// The script about copies needs a database of the other kind.
			if filepath.Base(env.WorkDir) == "script-copy" {
				env.Setenv("OTHER_DATABASE", pgtest.URL(t))
				if kind == "postgres" {
					env.Setenv("OTHER_DATABASE", "sqlite:other.db")
				}
			}
			env.Setenv("ADDRESS", freeAddress(t)) // for a script that starts a server
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GOGC", "800") // most processes end before they need to collect garbage
			return setupWorker(env)
		},
		Condition: func(condition string) (bool, error) {
			// [sqlite] and [postgres] are the database, [root] is the user.
			return condition == kind || condition == "root" && os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"landfall": landfallCommand, "exits": exitCommand, "capture": captureCommand, "mailserver": mailserverCommand(t),
			"claim": claimCommand,
		},
	})
}

// scriptDatabase returns the URL of the database of a script.
func scriptDatabase(t *testing.T, kind, folder string) string {
	t.Helper()
	if kind == "sqlite" {
		return "sqlite:" + filepath.Join(folder, "landfall.db")
	}
	// These scripts are about a database without a schema. The others get one
	// that has it already, which saves most of their first command.
	switch filepath.Base(folder) {
	case "script-schema", "script-doctor", "script-json", "script-broken":
		return pgtest.URL(t)
	}
	return dbtest.Postgres(t)
}

// claimCommand claims an account for an hour, like a server that is then removed.
func claimCommand(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, ts.Getenv("LANDFALL_DATABASE"), sqlstore.Options{})
	ts.Check(err)
	defer store.Close()
	outcome, err := store.Claim(ctx, landfall.ClaimRequest{
		Key: landfall.Key{Supplier: args[0], External: args[1]}, Team: args[2], Lease: time.Hour,
	})
	ts.Check(err)
	if outcome.Verdict != landfall.ClaimGranted {
		ts.Fatalf("the claim was not granted: %+v", outcome)
	}
}
