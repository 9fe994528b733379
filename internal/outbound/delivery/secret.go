package delivery

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
	"sync/atomic"
	"time"

	"landfall"
)

// Keys are the operator's keys from which the secrets of webhooks and targets are derived. The
// first is used for new secrets. A secret is a digest of a key and a salt in the
// database, so neither of them alone is enough to sign. Copies share their keys, so that
// Replace reaches all of them.
type Keys struct{ shared *atomic.Pointer[[]string] }

// list returns the current keys.
func (k Keys) list() []string {
	if k.shared == nil {
		return nil
	}
	return *k.shared.Load()
}

// Replace sets the keys of k and of all its copies to those of other.
func (k Keys) Replace(other Keys) { k.shared.Store(new(other.list())) }

// minKeyLength makes a random key impossible to guess.
const minKeyLength = 32

// ErrNoKey means that there is no key to derive secrets from.
var ErrNoKey = errors.New("no webhook key is set: set LANDFALL_WEBHOOK_KEY or webhook-key-file to a long random text " +
	"such as the output of: openssl rand -hex 32")

// ReadKeys parses keys separated by commas. No key is valid until a secret is needed.
func ReadKeys(text string) (Keys, error) {
	var keys []string
	for key := range strings.SplitSeq(text, ",") {
		key = strings.TrimSpace(key)
		switch {
		case key == "" && text == "":
			return newKeys(nil), nil
		case len(key) < minKeyLength:
			return Keys{}, fmt.Errorf("want a random text of at least %d characters, or several separated by commas", minKeyLength)
		}
		keys = append(keys, key)
	}
	return newKeys(keys), nil
}

func newKeys(keys []string) Keys {
	shared := new(atomic.Pointer[[]string])
	shared.Store(&keys)
	return Keys{shared}
}

// New returns a new secret of the first key.
func (k Keys) New() (landfall.WebhookSecret, error) {
	keys := k.list()
	if len(keys) == 0 {
		return landfall.WebhookSecret{}, ErrNoKey
	}
	return landfall.WebhookSecret{Salt: rand.Text(), Key: fingerprint(keys[0])}, nil
}

// fingerprint identifies a key without revealing it.
func fingerprint(key string) string {
	sum := sha256.Sum256([]byte("landfall webhook key\x00" + key))
	return hex.EncodeToString(sum[:6])
}

func (k Keys) derive(secret landfall.WebhookSecret) ([]byte, error) {
	keys := k.list()
	for _, key := range keys {
		if fingerprint(key) == secret.Key {
			digest := hmac.New(sha256.New, []byte(key))
			digest.Write([]byte("landfall webhook secret\x00" + secret.Salt))
			return digest.Sum(nil), nil
		}
	}
	if len(keys) == 0 {
		return nil, ErrNoKey
	}
	return nil, fmt.Errorf("the secret was derived from key %s, which is not set: add that key after a comma, or rotate the secret", secret.Key)
}

// Reveal returns a secret in the form that receivers get.
func (k Keys) Reveal(secret landfall.WebhookSecret) (string, error) {
	raw, err := k.derive(secret)
	if err != nil {
		return "", err
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(raw), nil
}

// secretPrefix begins a secret that is written in base64.
const secretPrefix = "whsec_"

// ParseSecret returns the bytes of a secret as Reveal writes it; any other text is
// taken as it is.
func ParseSecret(text string) ([]byte, error) {
	if encoded, is := strings.CutPrefix(text, secretPrefix); is {
		return base64.StdEncoding.DecodeString(encoded)
	}
	if text == "" {
		return nil, errors.New("the secret is empty")
	}
	return []byte(text), nil
}

// sign returns the signatures of a message by every valid secret, in the format of
// Standard Webhooks.
func (k Keys) sign(secrets []landfall.WebhookSecret, own []byte, id string, at time.Time, body []byte) (string, error) {
	var signatures []string
	if own != nil {
		signatures = append(signatures, Sign(own, id, at, body))
	}
	for _, secret := range secrets {
		if !secret.Until.IsZero() && at.After(secret.Until) {
			continue
		}
		raw, err := k.derive(secret)
		if err != nil {
			return "", err
		}
		signatures = append(signatures, Sign(raw, id, at, body))
	}
	if len(signatures) == 0 {
		return "", errors.New("there is no secret to sign with")
	}
	return strings.Join(signatures, " "), nil
}

// Sign returns the signature of a message by one secret.
func Sign(secret []byte, id string, at time.Time, body []byte) string {
	digest := hmac.New(sha256.New, secret)
	digest.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	digest.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil))
}
