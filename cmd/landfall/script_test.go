package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
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

// TestScripts runs every script once on each kind of database. The database is a setting, so a
// script need not know which one it uses. The store and the API are tested on both databases elsewhere, so
// with -short PostgreSQL runs only the scripts about databases.
func TestScripts(t *testing.T) {
	for name, database := range map[string]func(*testing.T, *testscript.Env) string{
		"sqlite": func(_ *testing.T, env *testscript.Env) string {
			return "sqlite:" + filepath.Join(env.WorkDir, "landfall.db")
		},
		"postgres": func(t *testing.T, env *testscript.Env) string {
			// These scripts are about a database without a schema. The others get one
			// that has it already, which saves most of their first command.
			switch filepath.Base(env.WorkDir) {
			case "script-schema", "script-doctor", "script-json", "script-broken":
				return pgtest.URL(t)
			}
			return dbtest.Postgres(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			scripts, err := filepath.Glob("testdata/script/*.txtar")
			if err != nil {
				t.Fatal(err)
			}
			if name == "postgres" && testing.Short() {
				scripts = nil
				for _, script := range []string{"backup", "broken", "copy", "doctor", "encryption", "full", "json", "purge", "restore-operators", "schema", "undo"} {
					scripts = append(scripts, "testdata/script/"+script+".txtar")
				}
			}
			testscript.Run(t, testscript.Params{
				Files:               scripts,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
				Setup: func(env *testscript.Env) error {
					env.Setenv("LANDFALL_DATABASE", database(t, env))
					// The script about copies needs a database of the other kind.
					if filepath.Base(env.WorkDir) == "script-copy" {
						env.Setenv("OTHER_DATABASE", pgtest.URL(t))
						if name == "postgres" {
							env.Setenv("OTHER_DATABASE", "sqlite:other.db")
						}
					}
					env.Setenv("HOME", env.WorkDir)
					env.Setenv("GOGC", "800") // most processes end before they need to collect garbage
					return setupWorker(env)
				},
				Condition: func(condition string) (bool, error) {
					// [sqlite] and [postgres] are the database, [root] is the user.
					return condition == name || condition == "root" && os.Geteuid() == 0, nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"landfall": landfallCommand, "exits": exitCommand, "capture": captureCommand, "mailserver": mailserverCommand(t),
					"claim": claimCommand,
				},
			})
		})
	}
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
