package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// folder is a backend for a local folder. Every check opens the folder again, so that a
// share mounted later is seen.
type folder struct {
	base  string
	slots chan struct{} // checks in progress: each may hang on a dead share and block a thread
}

func openFolder(target *url.URL) (backend, error) {
	if target.Host != "" && target.Host != "localhost" || !filepath.IsAbs(target.Path) || target.RawQuery != "" {
		return nil, errors.New("want file:// and an absolute path")
	}
	info, err := os.Stat(target.Path) //nolint:gosec // the operator chooses the folder
	if err != nil {
		return nil, fmt.Errorf("document folder: %w", err)
	}
	if !info.IsDir() {
		return nil, errors.New("document folder: not a folder")
	}
	return &folder{base: target.Path, slots: make(chan struct{}, 32)}, nil
}

// check returns when the context ends, even if the file system hangs. A hanging check keeps
// its slot, so that a dead share blocks a limited number of threads.
func (f *folder) check(ctx context.Context, root, path string) error {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	found := make(chan error, 1)
	go func() {
		defer func() { <-f.slots }()
		found <- f.stat(root, path)
	}()
	select {
	case err := <-found:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stat stays below the supplier's root: a symbolic link that leads out of it is an error,
// even when it stays inside the store.
func (f *folder) stat(root, path string) error {
	base, err := os.OpenRoot(f.base)
	if err != nil {
		return withoutPath(err)
	}
	defer func() { _ = base.Close() }()
	inner, err := base.OpenRoot(root)
	if err != nil {
		return missingOrError(err)
	}
	defer func() { _ = inner.Close() }()
	info, err := inner.Stat(path)
	if err != nil {
		return missingOrError(err)
	}
	if !info.Mode().IsRegular() {
		return errMissing // a folder is not a document
	}
	return nil
}

// missingOrError returns errMissing if the error means that the file does not exist.
func missingOrError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return errMissing
	}
	return withoutPath(err)
}

// withoutPath removes the path from an error: file names can be personal data.
func withoutPath(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	return err
}
