// Command cluster runs another command beside a private PostgreSQL cluster, so
// that all test processes of a run share one server:
//
//	go run ./internal/test/pgtest/cluster go test ./...
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
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
	// The child gets the keyboard's interrupt too and ends by it; this program
	// waits for that, so that the server is still there until the end.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	usual := os.Environ()
	if roomy(memory) {
		if err := os.Setenv("TMPDIR", memory); err != nil {
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
	child.Env = slices.Concat(usual, []string{pgtest.Environment + "=" + cluster.URL})
	var exit *exec.ExitError
	if err := child.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 1, err
	}
	return 0, nil
}

// memory is where a system keeps files that it need not outlive. Hundreds of
// databases are made and dropped in a run, and tests would wait for the disk more
// than for anything else. Those that kill a server have one of their own, on disk.
const (
	memory = "/dev/shm"
	enough = 6 << 30
)

// roomy says whether a folder is there with room for all that tests write.
func roomy(folder string) bool {
	var found syscall.Statfs_t
	err := syscall.Statfs(folder, &found)
	return err == nil && found.Bavail*uint64(found.Bsize) >= enough
}
