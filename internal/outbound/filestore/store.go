// Package filestore checks whether a document that a payload refers to exists under the
// root of its supplier, and returns its location. It never reads documents.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Options configures a Store; zero values mean the defaults.
type Options struct {
	TimeLimit time.Duration // of one Check; default 5 seconds
}

// Store checks and locates documents.
type Store struct {
	options Options
	base    string  // prefix of every location
	backend backend // nil: locations only
}

// backend checks whether a file exists. check returns nil, errMissing, or the
// reason why it cannot tell.
type backend interface {
	check(ctx context.Context, root, path string) error
}

// errMissing means that the file does not exist.
var errMissing = errors.New("no such document")

// errNoStore means that no document store is configured.
var errNoStore = errors.New("no document store is configured")

// errNoRoot means that the supplier has no folder in the store.
var errNoRoot = errors.New("the supplier has no document root")

var _ landfall.FileStore = (*Store)(nil)

// Open returns the store at a URL:
//
//	s3://bucket?endpoint=https://host:9000&region=eu-west-2   credentials from the environment
//	file:///srv/documents                                     a folder of this machine
//	""                                                        locations only, nothing can be checked
//
// It does not connect, so that an unavailable store does not prevent the start of the
// server.
func Open(address string, options Options) (*Store, error) {
	if options.TimeLimit <= 0 {
		options.TimeLimit = limits.Document
	}
	store := &Store{options: options}
	if address == "" {
		return store, nil
	}
	target, err := parse(address)
	if err != nil {
		return nil, err
	}
	store.base = baseOf(target)
	if target.Scheme == "s3" {
		store.backend, err = openBucket(target)
	} else {
		store.backend, err = openFolder(target)
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}

// OpenLocations returns a store that only locates files. It needs no credentials.
func OpenLocations(address string) (*Store, error) {
	store := &Store{}
	if address == "" {
		return store, nil
	}
	target, err := parse(address)
	if err != nil {
		return nil, err
	}
	store.base = baseOf(target)
	return store, nil
}

func parse(address string) (*url.URL, error) {
	target, err := url.Parse(address)
	if err != nil || target.User != nil || target.Fragment != "" {
		return nil, errors.New("want a URL such as s3://bucket or file:///folder, without credentials")
	}
	if target.Scheme != "s3" && target.Scheme != "file" {
		return nil, errors.New("the URL must start with s3:// or file://")
	}
	return target, nil
}

// baseOf returns the prefix of every location.
func baseOf(target *url.URL) string {
	if target.Scheme == "s3" {
		return "s3://" + target.Host + "/"
	}
	return "file://" + strings.TrimSuffix(target.EscapedPath(), "/") + "/"
}

// Location implements landfall.FileStore.
func (s *Store) Location(supplier landfall.Supplier, path string) string {
	root, path, ok := resolve(supplier.DocumentRoot, path)
	if !ok {
		return ""
	}
	key := join(root, path)
	if strings.HasPrefix(s.base, "file:") {
		key = (&url.URL{Path: key}).EscapedPath()
	}
	return s.base + key
}

// Check implements landfall.FileStore.
func (s *Store) Check(ctx context.Context, supplier landfall.Supplier, path string) error {
	root, path, ok := resolve(supplier.DocumentRoot, path)
	if root == "" {
		return unavailable(errNoRoot)
	}
	if !ok {
		return missing()
	}
	if s.backend == nil {
		return unavailable(errNoStore)
	}
	limited, cancel := context.WithTimeout(ctx, s.options.TimeLimit)
	defer cancel()
	err := s.backend.check(limited, root, path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMissing):
		return missing()
	// The caller cancelled, which says nothing about the store.
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	}
	return unavailable(err)
}

func missing() *landfall.Error {
	return landfall.Refuse(landfall.CodeFileMissing, "There is no document at this path under the supplier's document root.")
}

func unavailable(cause error) *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeFileStoreUnavailable, RetryAfter: limits.FileStoreRetry,
		Detail: "The document store cannot be reached right now. Nothing was stored; retry the same request.",
		Cause:  fmt.Errorf("document store: %w", cause),
	}
}
