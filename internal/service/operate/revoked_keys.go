package operate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// keyIDPattern matches the public part of a key.
var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ParseRevokedKeys returns the keys of a list that have ended: one ID per line, or
// the output of key list --json, of which the revoked and expired keys count.
func ParseRevokedKeys(text []byte, now time.Time) (ids []string, err error) {
	// The output of key list is an array; no ID starts with a bracket.
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return revokedInJSON(text, now)
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

// revokedInJSON returns the ended keys of a list of keys.
func revokedInJSON(text []byte, now time.Time) (ids []string, err error) {
	var keys []struct {
		ID        string  `json:"id"`
		ExpiresAt *string `json:"expires_at"`
		RevokedAt *string `json:"revoked_at"`
	}
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
			ended = !now.Before(expires)
		}
		if ended {
			ids = append(ids, key.ID)
		}
	}
	return ids, nil
}
