package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// provenance writes an in-toto statement with a SLSA predicate: which files were built from
// which commit, and how.
func (r *release) provenance(targets []string) error {
	type subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	slices.Sort(r.files)
	var subjects []subject
	for _, name := range r.files {
		sum, err := r.digest(name)
		if err != nil {
			return err
		}
		subjects = append(subjects, subject{name, map[string]string{"sha256": sum}})
	}
	statement, err := json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          "urn:landfall:make-release:v1",
				"externalParameters": map[string]any{"version": r.version, "targets": targets},
				"internalParameters": map[string]any{"go": runtime.Version()},
				"resolvedDependencies": []map[string]any{
					{"name": "source", "digest": map[string]string{"gitCommit": r.commit}},
				},
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "urn:landfall:make-release"}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.add("provenance.intoto.json", statement)
}

// signingKey names the variable with the file of the key that signs a release.
const signingKey = "RELEASE_SIGNING_KEY"

// sign signs the checksums with an Ed25519 key from outside the repository, if there is one.
func (r *release) sign() error {
	file := os.Getenv(signingKey)
	if file == "" {
		fmt.Fprintf(r.log, "UNSIGNED: set %s to the PEM file of an Ed25519 key to sign the checksums\n", signingKey)
		return nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // named by the person who releases
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s: %s is not a PEM file", signingKey, file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("%s: %w", signingKey, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return errors.New(signingKey + ": want an Ed25519 key, from: openssl genpkey -algorithm ed25519")
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS.sig"), ed25519.Sign(key, sums), 0o644) //nolint:gosec // a release is public
}
