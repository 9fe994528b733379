package app

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"landfall/internal/store/seal"
)

// maxKeyFileSize limits how long a key file may be, in case another file was named by
// mistake.
const maxKeyFileSize = 64 << 10

// EncryptionKeys reads the keys that encrypt personal data. The first one
// encrypts; without keys nothing is encrypted. Errors never repeat a value.
func (s Settings) EncryptionKeys() ([]seal.Key, error) {
	if s.EncryptionKeyFile == "" {
		keys, err := seal.ReadKeys(s.EncryptionKey)
		if err != nil {
			return nil, fmt.Errorf("setting encryption-key: %w", err)
		}
		return keys, nil
	}
	if s.EncryptionKey != "" {
		return nil, errors.New("set either encryption-key or encryption-key-file, not both")
	}
	text, err := os.ReadFile(s.EncryptionKeyFile)
	if err != nil {
		return nil, fmt.Errorf("setting encryption-key-file: %w", err)
	}
	var lines []string
	// Keys are edited by hand and used for years, so the file may contain
	// comments.
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	switch {
	case len(text) > maxKeyFileSize:
		return nil, fmt.Errorf("setting encryption-key-file: %s is too long for keys", s.EncryptionKeyFile)
	case len(lines) == 0:
		return nil, fmt.Errorf("setting encryption-key-file: %s contains no key", s.EncryptionKeyFile)
	}
	keys, err := seal.ReadKeys(strings.Join(lines, ","))
	if err != nil {
		return nil, fmt.Errorf("setting encryption-key-file: %s: %w", s.EncryptionKeyFile, err)
	}
	return keys, nil
}
