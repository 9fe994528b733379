package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

// maxPasswordFileSize limits what is read, in case another file was named by mistake.
const maxPasswordFileSize = 4 << 10

// applyPassword adds the password from a variable or a file to the database's
// address, where the driver looks for it. Errors never repeat a value. Without
// either, the driver itself uses PGPASSWORD and PGPASSFILE.
func (s *Settings) applyPassword() error {
	password, ways := s.DatabasePassword, 0
	s.DatabasePassword = ""
	for _, way := range []string{password, s.DatabasePasswordFile, s.DatabasePasswordCommand} {
		if way != "" {
			ways++
		}
	}
	switch {
	case ways == 0:
		return nil
	case ways > 1:
		return errors.New("set only one of database-password, database-password-file and database-password-command")
	}
	if ask := s.currentPassword(); ask != nil {
		var err error
		if password, err = ask(context.Background()); err != nil {
			return err
		}
	}
	name, err := engine.Parse(s.Database)
	if err != nil {
		return err
	}
	unlocked, err := name.WithPassword(password)
	if err == nil {
		s.Database = unlocked
	}
	return err
}

// currentPassword returns a function that reads the file or runs the command that
// has the database's password, for every new connection; nil if there is neither.
func (s *Settings) currentPassword() func(context.Context) (string, error) {
	switch {
	case s.DatabasePasswordFile != "":
		return func(context.Context) (string, error) {
			password, err := readPassword(s.DatabasePasswordFile)
			return password, settingErr("database-password-file", err)
		}
	case s.DatabasePasswordCommand != "":
		return func(ctx context.Context) (string, error) {
			password, err := runPasswordCommand(ctx, s.DatabasePasswordCommand)
			return password, settingErr("database-password-command", err)
		}
	}
	return nil
}

// runPasswordCommand returns the first line that a command prints. Its errors
// contain nothing of what it printed.
func runPasswordCommand(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.PasswordCommand)
	defer cancel()
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	process := exec.CommandContext(ctx, shell[0], shell[1], command) //nolint:gosec // the operator's own setting
	process.WaitDelay = time.Second
	output, err := process.Output()
	if err != nil {
		return "", fmt.Errorf("the command failed: %w", err)
	}
	line, _, _ := strings.Cut(string(output), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" || len(line) > maxPasswordFileSize {
		return "", errors.New("the command printed no password in its first line")
	}
	return line, nil
}

// readPassword returns the first line of a file, as other programs do, because
// editors add a line break at the end.
func readPassword(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content := make([]byte, maxPasswordFileSize)
	n, err := file.Read(content)
	if err != nil && n == 0 {
		return "", fmt.Errorf("%s cannot be read or is empty", path)
	}
	line, _, _ := strings.Cut(string(content[:n]), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" || n == maxPasswordFileSize {
		return "", fmt.Errorf("%s has no password in its first line", path)
	}
	return line, nil
}

// hasPassword reports whether a database's address contains a password.
func hasPassword(database string) bool {
	name, err := engine.Parse(database)
	return err == nil && name.HasPassword()
}

// DatabaseName returns the name of the database without secrets, for display and
// logs.
func (s Settings) DatabaseName() string {
	name, _ := engine.Parse(s.Database) // an invalid address gives an empty name
	return name.String()
}

// embedded reports whether the database is a file, which only one server can use.
func (s Settings) embedded() bool {
	name, err := engine.Parse(s.Database)
	return err == nil && name.File() != ""
}
