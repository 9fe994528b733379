package app

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"landfall/internal/store/engine"
)

// maxPasswordFile bounds what is read from a file that was named by mistake.
const maxPasswordFile = 4 << 10

// applyPassword puts the password that stands in a variable or a file into the
// database's address, where the driver looks for it. Nothing here repeats a
// value. Without either, the driver looks at PGPASSWORD and PGPASSFILE itself.
func (s *Settings) applyPassword() error {
	if s.DatabasePassword == "" && s.DatabasePasswordFile == "" {
		return nil
	}
	password := s.DatabasePassword
	s.DatabasePassword = ""
	if s.DatabasePasswordFile != "" {
		if password != "" {
			return errors.New("settings database-password and database-password-file are both given: which one?")
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

// readPassword takes the first line of a file, as other programs do: editors
// end a file with a line break nobody sees.
func readPassword(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content := make([]byte, maxPasswordFile)
	n, err := file.Read(content)
	if err != nil && n == 0 {
		return "", fmt.Errorf("%s cannot be read or is empty", path)
	}
	line, _, _ := strings.Cut(string(content[:n]), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" || n == maxPasswordFile {
		return "", fmt.Errorf("%s holds no password in its first line", path)
	}
	return line, nil
}

// hasPassword says that a database's address has a password in it.
func hasPassword(database string) bool {
	name, err := engine.Parse(database)
	return err == nil && name.HasPassword()
}

// DatabaseName is the database as it may be shown and logged: without secrets.
func (s Settings) DatabaseName() string {
	name, _ := engine.Parse(s.Database) // what cannot be read shows as nothing
	return name.String()
}

// embedded says that the database is a file, which a server has to itself.
func (s Settings) embedded() bool {
	name, err := engine.Parse(s.Database)
	return err == nil && name.File() != ""
}
