package audit

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"time"

	"landfall"
)

// Checkpoint records how far a chain was at some time. It is stored outside the
// database: an attacker who can change the database can compute a new chain, but
// cannot change a checkpoint elsewhere, nor sign one without the key.
type Checkpoint struct {
	Chain     string `json:"chain"`
	Position  int64  `json:"place"`
	Hash      string `json:"hash"`
	At        string `json:"at"`
	Key       string `json:"key,omitempty"` // name of the signing key
	Signature string `json:"signature,omitempty"`
}

// message returns what is signed.
func (c Checkpoint) message() []byte {
	return fmt.Appendf(nil, "landfall audit checkpoint\n%s\n%d\n%s\n%s\n", c.Chain, c.Position, c.Hash, c.At)
}

// newCheckpoint returns a checkpoint, signed if there is a key. An unsigned one
// is still evidence if it is stored elsewhere.
func newCheckpoint(chain landfall.AuditChain, at time.Time, key ed25519.PrivateKey) Checkpoint {
	made := Checkpoint{Chain: chain.Name, Position: chain.Position, Hash: chain.Hash.String(), At: at.UTC().Format(time.RFC3339)}
	if key != nil {
		made.Key = KeyName(key.Public().(ed25519.PublicKey)) //nolint:forcetypeassert // it documents that
		made.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, made.message()))
	}
	return made
}

// SignedBy reports whether a checkpoint was signed with the private key of a public
// one.
func (c Checkpoint) SignedBy(public ed25519.PublicKey) bool {
	signature, err := base64.StdEncoding.DecodeString(c.Signature)
	return err == nil && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, c.message(), signature)
}

// KeyName returns the name of a key in checkpoints.
func KeyName(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// checkpointMessage is the message of log lines with checkpoints.
const checkpointMessage = "audit checkpoint"

// ReadCheckpoints reads checkpoints, one per line, from a checkpoint file or from a
// JSON log, whose other lines are skipped.
func ReadCheckpoints(from io.Reader) ([]Checkpoint, error) {
	var found []Checkpoint
	lines := bufio.NewScanner(from)
	const maxLineSize = 1 << 20
	lines.Buffer(nil, maxLineSize)
	for number := 1; lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var line struct {
			Checkpoint
			Message *string `json:"msg"`
		}
		err := json.Unmarshal(lines.Bytes(), &line)
		if err == nil && line.Message != nil && *line.Message != checkpointMessage {
			continue
		}
		if err != nil || line.Chain == "" || line.Position < 1 || line.Hash == "" {
			return nil, fmt.Errorf("line %d is not a checkpoint", number)
		}
		found = append(found, line.Checkpoint)
	}
	return found, lines.Err()
}

// NewKey generates a key pair to sign checkpoints, in PEM.
func NewKey(random io.Reader) (private, public []byte, err error) {
	open, secret, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, nil, err
	}
	inner, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		return nil, nil, err
	}
	outer, err := x509.MarshalPKIXPublicKey(open)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: inner}),
		pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: outer}), nil
}

var errNoKey = errors.New("want an Ed25519 key in PEM, as made by: landfall audit key FILE")

// ReadKey reads a private key.
func ReadKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errNoKey
	}
	read, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := read.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errNoKey
	}
	return key, nil
}

// ReadPublicKey reads a public key, or takes it from a private one.
func ReadPublicKey(text []byte) (ed25519.PublicKey, error) {
	if key, err := ReadKey(text); err == nil {
		return key.Public().(ed25519.PublicKey), nil //nolint:forcetypeassert // it documents that
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errNoKey
	}
	read, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := read.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, errNoKey
	}
	return key, nil
}
