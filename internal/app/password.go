package app

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"landfall/internal/store/engine"
)

// maxPasswordFileSize limits what is read, in case another file was named by mistake.
const maxPasswordFileSize = 4 << 10

// applyPassword adds the password from a variable or a file to the database's
// address, where the driver looks for it. Errors never repeat a value. Without
// either, the driver itself uses PGPASSWORD and PGPASSFILE.
func (s *Settings) applyPassword() error {
	if s.DatabasePassword == "" && s.DatabasePasswordFile == "" {
		return nil
	}
	password := s.DatabasePassword
	s.DatabasePassword = ""
	if s.DatabasePasswordFile != "" {
		if password != "" {
			return errors.New("set either database-password or database-password-file, not both")
		}
		var err error
		if password, err = readPassword(s.DatabasePasswordFile); err != nil {
			return fmt.Errorf("setting database-password-file: %w", err)
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
