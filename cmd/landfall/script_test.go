package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"landfall/internal/test/pgtest"
)

// The scripts call the program by its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"landfall": main})
}

// TestScripts runs every script once on each kind of database. The database is
// the program's own setting, so a script need not know which it is.
func TestScripts(t *testing.T) {
	for name, database := range map[string]func(*testing.T, *testscript.Env) string{
		"sqlite": func(_ *testing.T, env *testscript.Env) string {
			return "sqlite:" + filepath.Join(env.WorkDir, "landfall.db")
		},
		"postgres": func(t *testing.T, _ *testscript.Env) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/script",
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
				Setup: func(env *testscript.Env) error {
					env.Setenv("LANDFALL_DATABASE", database(t, env))
					env.Setenv("HOME", env.WorkDir)
					// A command lives for less than it takes to clean up after it, and
					// the scripts start well over a thousand.
					env.Setenv("GOGC", "800")
					return nil
				},
				Condition: func(condition string) (bool, error) {
					// [sqlite] and [postgres] tell where a line runs, [root] who runs it.
					return condition == name || condition == "root" && os.Geteuid() == 0, nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"exits": exitCommand, "capture": captureCommand, "mailserver": mailserverCommand(t),
				},
			})
		})
	}
}
