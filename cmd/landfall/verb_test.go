package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exitCommand runs a program and wants an exit code: exits 2 landfall …
func exitCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if args[1] == "landfall" {
		got = workerOf(ts).run(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// captureCommand sets a variable to what an expression finds in a file: capture ID stdout '(\w+)'
func captureCommand(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if found == nil {
		ts.Fatalf("%s is not in %s", args[2], args[1])
	}
	ts.Setenv(args[0], strings.TrimSpace(found[len(found)-1]))
}
