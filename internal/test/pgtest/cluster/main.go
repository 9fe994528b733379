// Command cluster runs another command beside a private PostgreSQL cluster, so
// that all test processes of a run share one server:
//
//	go run ./internal/test/pgtest/cluster go test ./...
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"landfall/internal/test/pgtest"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
	}
	os.Exit(status)
}

func run(command []string) (status int, err error) {
	if len(command) == 0 {
		return 2, errors.New("usage: cluster COMMAND [ARGUMENT…]")
	}
	// Ctrl-C also reaches the command and stops it. This program keeps running
	// until then, so that the server is there until the end.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	environment := os.Environ()
	if hasSpace(memory) {
		folder, err := os.MkdirTemp(memory, "landfall-test")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(folder)
		if err := os.Chmod(folder, 0o755); err != nil { // PostgreSQL runs as another user
			return 1, err
		}
		// The go command keeps its own folder: what it builds does not belong in memory.
		environment = append(environment, "GOTMPDIR="+cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir()), "TMPDIR="+folder)
		if err := os.Setenv("TMPDIR", folder); err != nil {
			return 1, err
		}
	}
	cluster, err := pgtest.Start()
	if err != nil {
		return 1, err
	}
	defer cluster.Stop()
	child := exec.Command(command[0], command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	environment = append(environment, pgtest.URLVariable+"="+cluster.URL)
	child.Env = environment
	var exit *exec.ExitError
	if err := child.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 1, err
	}
	return 0, nil
}

// A run creates and drops hundreds of databases. On disk, tests would mostly wait
// for fsync, so all temporary files are kept in memory where the machine has
// enough of it.
const (
	memory  = "/dev/shm"
	minimum = 6 << 30 // free bytes
	noExec  = 8       // mount flag ST_NOEXEC; tests start programs that they build
)

// hasSpace reports whether a folder has space for all that tests write and may
// hold programs.
func hasSpace(folder string) bool {
	var found syscall.Statfs_t
	err := syscall.Statfs(folder, &found)
	return err == nil && found.Bavail*uint64(found.Bsize) >= minimum && found.Flags&noExec == 0
}
