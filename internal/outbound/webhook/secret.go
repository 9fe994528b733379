package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// Keys are the operator's keys that webhooks' secrets are derived from, the one
// for new secrets first. A secret is a digest of a key and of a salt in the
// database: whoever has one of the two alone can sign nothing.
type Keys struct{ keys []string }

// shortestKey is what nobody guesses: 32 characters of a random text.
const shortestKey = 32

// ErrNoKey means that there is no key to derive secrets from.
var ErrNoKey = errors.New("there is no webhook key: set LANDFALL_WEBHOOK_KEY, or webhook-key-file, to a long random text " +
	"such as the output of: openssl rand -hex 32")

// ReadKeys reads keys with commas between them. None is no mistake until a
// secret is wanted.
func ReadKeys(text string) (Keys, error) {
	var keys Keys
	for key := range strings.SplitSeq(text, ",") {
		key = strings.TrimSpace(key)
		switch {
		case key == "" && text == "":
			return Keys{}, nil
		case len(key) < shortestKey:
			return Keys{}, fmt.Errorf("want a random text of at least %d characters, or several with commas between them", shortestKey)
		}
		keys.keys = append(keys.keys, key)
	}
	return keys, nil
}

// New draws a secret from the first key.
func (k Keys) New() (landfall.WebhookSecret, error) {
	if len(k.keys) == 0 {
		return landfall.WebhookSecret{}, ErrNoKey
	}
	return landfall.WebhookSecret{Salt: rand.Text(), Key: fingerprint(k.keys[0])}, nil
}

// fingerprint names a key without giving it away.
func fingerprint(key string) string {
	sum := sha256.Sum256([]byte("landfall webhook key\x00" + key))
	return hex.EncodeToString(sum[:6])
}

// derive gives the bytes a secret stands for.
func (k Keys) derive(secret landfall.WebhookSecret) ([]byte, error) {
	for _, key := range k.keys {
		if fingerprint(key) == secret.Key {
			digest := hmac.New(sha256.New, []byte(key))
			digest.Write([]byte("landfall webhook secret\x00" + secret.Salt))
			return digest.Sum(nil), nil
		}
	}
	if len(k.keys) == 0 {
		return nil, ErrNoKey
	}
	return nil, fmt.Errorf("the webhook's secret was made with the key %s, which is not among those set: add it behind a comma, or rotate the secret", secret.Key)
}

// Reveal writes a secret as receivers are given it.
func (k Keys) Reveal(secret landfall.WebhookSecret) (string, error) {
	raw, err := k.derive(secret)
	if err != nil {
		return "", err
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(raw), nil
}

// sign gives the signatures of a message by every secret that is good now, as
// Standard Webhooks writes them.
func (k Keys) sign(secrets []landfall.WebhookSecret, id string, at time.Time, body []byte) (string, error) {
	var signatures []string
	for _, secret := range secrets {
		if !secret.Until.IsZero() && at.After(secret.Until) {
			continue
		}
		raw, err := k.derive(secret)
		if err != nil {
			return "", err
		}
		digest := hmac.New(sha256.New, raw)
		digest.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		digest.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(digest.Sum(nil)))
	}
	if len(signatures) == 0 {
		return "", errors.New("the webhook has no secret")
	}
	return strings.Join(signatures, " "), nil
}
