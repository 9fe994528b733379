// Package filestore answers whether a file that a payload refers to exists
// under its supplier's root, and where that is. It never reads one.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"landfall"
)

// Options are the limits; zero values mean the defaults.
type Options struct {
	TimeLimit time.Duration // of one Check; 5 seconds
}

// Store is a place with files in it.
type Store struct {
	options Options
	bucket  string // what stands before every location
	shelf   shelf  // nil: locations only
}

// shelf looks files up. Its answers are nil, errMissing, or what kept it
// from looking.
type shelf interface {
	look(ctx context.Context, root, path string) error
}

// errMissing means that the store was asked and has no such file.
var errMissing = errors.New("no such document")

// errNoStore means that there is nobody to ask.
var errNoStore = errors.New("no document store is configured")

// errNoRoot means that the supplier has no place of its own in the store.
var errNoRoot = errors.New("the supplier has no document root")

var _ landfall.FileStore = (*Store)(nil)

// Open makes a Store from an address:
//
//	s3://bucket?endpoint=https://host:9000&region=eu-west-2   credentials from the environment
//	file:///srv/documents                                     a folder of this machine
//	""                                                        locations only, nothing can be checked
//
// It asks nobody yet, so that a store that is away does not keep the service
// from starting; what it can see to be wrong at once it refuses.
func Open(address string, options Options) (*Store, error) {
	if options.TimeLimit <= 0 {
		options.TimeLimit = 5 * time.Second
	}
	store := &Store{options: options}
	if address == "" {
		return store, nil
	}
	target, err := parse(address)
	if err != nil {
		return nil, err
	}
	store.bucket = placeOf(target)
	if target.Scheme == "s3" {
		store.shelf, err = openBucket(target)
	} else {
		store.shelf, err = openFolder(target)
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Place makes a Store that says where files are and checks none. It needs no
// credentials, so it is for machines that only show locations.
func Place(address string) (*Store, error) {
	store := &Store{}
	if address == "" {
		return store, nil
	}
	target, err := parse(address)
	if err != nil {
		return nil, err
	}
	store.bucket = placeOf(target)
	return store, nil
}

// parse reads an address as far as it is the same for all kinds.
func parse(address string) (*url.URL, error) {
	target, err := url.Parse(address)
	if err != nil || target.User != nil || target.Fragment != "" {
		return nil, errors.New("the document store's address is not of the form s3://bucket or file:///folder; it holds no credentials")
	}
	if target.Scheme != "s3" && target.Scheme != "file" {
		return nil, errors.New("the document store's address begins with s3:// or file://")
	}
	return target, nil
}

// placeOf is what stands before every location.
func placeOf(target *url.URL) string {
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
	place := join(root, path)
	if strings.HasPrefix(s.bucket, "file:") {
		place = (&url.URL{Path: place}).EscapedPath()
	}
	return s.bucket + place
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
	if s.shelf == nil {
		return unavailable(errNoStore)
	}
	limited, cancel := context.WithTimeout(ctx, s.options.TimeLimit)
	defer cancel()
	err := s.shelf.look(limited, root, path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMissing):
		return missing()
	// The caller has left, which says nothing about the store: it must not count as
	// one that is away.
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
		Kind: landfall.Unavailable, Code: landfall.CodeFileStoreUnavailable, RetryAfter: 5 * time.Second,
		Detail: "Whether the document exists could not be found out just now. Nothing was stored; repeat the request as it is.",
		Cause:  fmt.Errorf("document store: %w", cause),
	}
}
