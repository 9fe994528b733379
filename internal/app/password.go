package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// mostPassword bounds what is read from a file that was named by mistake.
const mostPassword = 4 << 10

// unlock puts the password that stands in a variable or a file into the
// database's address, where the driver looks for it. Nothing here repeats a
// value. Without either, the driver looks at PGPASSWORD and PGPASSFILE itself.
func (s *Settings) unlock() error {
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
	address, err := url.Parse(s.Database)
	if err != nil || !strings.HasPrefix(address.Scheme, "postgres") {
		return errors.New("a database password is given, but setting database names none that takes one")
	}
	if _, already := address.User.Password(); already || address.Query().Has("password") {
		return errors.New("the database password is given twice: take the one in setting database out")
	}
	if address.User == nil {
		// A password in front of the host would need a user; the parameter of
		// the same name does not. The driver takes a + for a plus sign.
		query := address.Query()
		query.Set("password", password)
		address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	} else {
		address.User = url.UserPassword(address.User.Username(), password)
	}
	s.Database = address.String()
	return nil
}

// readPassword takes the first line of a file, as other programs do: editors
// end a file with a line break nobody sees.
func readPassword(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content := make([]byte, mostPassword)
	n, err := file.Read(content)
	if err != nil && n == 0 {
		return "", fmt.Errorf("%s cannot be read or is empty", path)
	}
	line, _, _ := strings.Cut(string(content[:n]), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" || n == mostPassword {
		return "", fmt.Errorf("%s holds no password in its first line", path)
	}
	return line, nil
}

// exposed says that a database's address has a password in it.
func exposed(database string) bool { return Mask(database) != database }
