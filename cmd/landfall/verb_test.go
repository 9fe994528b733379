package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs the program and wants an exit code: exits 2 landfall …
func exits(ts *testscript.TestScript, _ bool, arguments []string) {
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(arguments[1], arguments[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture keeps what an expression finds in a file: capture ID stdout '(\w+)'
func capture(ts *testscript.TestScript, _ bool, arguments []string) {
	found := regexp.MustCompile(arguments[2]).FindStringSubmatch(ts.ReadFile(arguments[1]))
	if found == nil {
		ts.Fatalf("%s is not in %s", arguments[2], arguments[1])
	}
	ts.Setenv(arguments[0], strings.TrimSpace(found[len(found)-1]))
}
