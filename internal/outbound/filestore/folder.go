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

// folder is a shelf in this machine's file system. Every look opens the folder
// again, so that a share mounted later is seen.
type folder struct {
	base  string
	slots chan struct{} // looks under way: each may hang in a dead share and hold a thread
}

func openFolder(target *url.URL) (shelf, error) {
	if target.Host != "" && target.Host != "localhost" || !filepath.IsAbs(target.Path) || target.RawQuery != "" {
		return nil, errors.New("a document folder's address is file:// and an absolute path")
	}
	info, err := os.Stat(target.Path) //nolint:gosec // the operator chooses the folder
	if err != nil {
		return nil, fmt.Errorf("document folder: %w", err)
	}
	if !info.IsDir() {
		return nil, errors.New("document folder: it is not a folder")
	}
	return &folder{base: target.Path, slots: make(chan struct{}, 32)}, nil
}

// look leaves a question that hangs behind, with its place: when all places are
// lost to a dead share, further callers wait for their time and no thread more.
func (f *folder) look(ctx context.Context, root, path string) error {
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

// stat looks below the supplier's root and nowhere else: a symbolic link that
// leads out of it is an error, even when it stays inside the store.
func (f *folder) stat(root, path string) error {
	base, err := os.OpenRoot(f.base)
	if err != nil {
		return nameless(err)
	}
	defer func() { _ = base.Close() }()
	inner, err := base.OpenRoot(root)
	if err != nil {
		return absent(err)
	}
	defer func() { _ = inner.Close() }()
	info, err := inner.Stat(path)
	if err != nil {
		return absent(err)
	}
	if !info.Mode().IsRegular() {
		return errMissing // a folder is no document
	}
	return nil
}

// absent tells "not there" from "cannot look".
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return errMissing
	}
	return nameless(err)
}

// nameless drops the path from an error: file names can be personal data.
func nameless(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	return err
}
