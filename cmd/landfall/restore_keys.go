package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// keyIDPattern matches the public part of a key.
var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readRevokedKeys reads which keys have ended: one ID per line, or the output of key list --json,
// of which the revoked and expired keys count.
func readRevokedKeys(stdin io.Reader, path string) (ids []string, err error) {
	var text []byte
	// Standard input is bounded, because a pipe may never end.
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, maxRevokedList))
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	// The output of key list is an array; no ID starts with a bracket.
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		return revokedInJSON(text)
	}
	for number, line := range strings.Split(string(text), "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case !keyIDPattern.MatchString(line):
			return nil, fmt.Errorf("line %d of the list is not a key ID", number+1) // not printed: it may be a secret
		default:
			ids = append(ids, line)
		}
	}
	return ids, nil
}

// maxRevokedList bounds what is read: some hundred thousand keys.
const maxRevokedList = 16 << 20

// revokedInJSON returns the ended keys of a list of keys.
func revokedInJSON(text []byte) (ids []string, err error) {
	var keys []keyEntry
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, errors.New("the list is neither one key ID per line nor the output of 'landfall key list --json'")
	}
	for _, key := range keys {
		ended := key.RevokedAt != nil
		if key.ExpiresAt != nil && !ended {
			expires, err := time.Parse(time.RFC3339, *key.ExpiresAt)
			if err != nil {
				return nil, fmt.Errorf("the list has no valid expiry time for key %s", key.ID)
			}
			ended = !time.Now().Before(expires)
		}
		if ended {
			ids = append(ids, key.ID)
		}
	}
	return ids, nil
}
