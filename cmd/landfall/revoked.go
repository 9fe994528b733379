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

// keyIDPattern is what the public part of a key looks like.
var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readRevokedKeys reads which keys have ended: ids, one a line, or what key list
// --json prints, of which those count that were revoked or are over.
func readRevokedKeys(stdin io.Reader, path string) (ids []string, err error) {
	var text []byte
	// Standard input is bounded, since a pipe may never end; a file that was named is taken as it
	// is.
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, maxRevokedList))
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	// What key list prints is an array; no id begins with a bracket.
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		return revokedInJSON(text)
	}
	for number, line := range strings.Split(string(text), "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case !keyIDPattern.MatchString(line):
			return nil, fmt.Errorf("line %d of the list is no key's id", number+1) // it may be a secret
		default:
			ids = append(ids, line)
		}
	}
	return ids, nil
}

// maxRevokedList bounds what is read: some hundred thousand keys.
const maxRevokedList = 16 << 20

// revokedInJSON picks the ended keys out of a list of keys.
func revokedInJSON(text []byte) (ids []string, err error) {
	var keys []keyEntry
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, errors.New("the list is neither ids, one a line, nor what 'landfall key list --json' prints")
	}
	for _, key := range keys {
		// A key that was revoked is over whatever its end says, which is then not even read.
		over := key.RevokedAt != nil
		if key.ExpiresAt != nil && !over {
			ends, err := time.Parse(time.RFC3339, *key.ExpiresAt)
			if err != nil {
				return nil, fmt.Errorf("the list says no instant for when key %s ends", key.ID)
			}
			over = !time.Now().Before(ends)
		}
		if over {
			ids = append(ids, key.ID)
		}
	}
	return ids, nil
}
