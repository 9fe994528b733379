package tooltest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Landfall returns the path of the landfall program, built from the sources of
// this module.
func Landfall(t testing.TB) string {
	t.Helper()
	path, err := builtProgram()
	if err != nil {
		t.Fatalf("tooltest: %v", err)
	}
	return path
}

// builtProgram builds the program once for all test processes: the first one builds
// it, and the go command tells the others that it is up to date. Each version
// has its own file, named after its content, so that a build never replaces a
// program that a test is running.
var builtProgram = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	// The test cache cannot know which files the go command reads. Listing them
	// here makes it run the tests again when one changes.
	for _, name := range []string{"cmd", "internal", "."} {
		if err := watch(filepath.Join(root, name), name != "."); err != nil {
			return "", err
		}
	}
	unlock, err := lock("program")
	if err != nil {
		return "", err
	}
	defer unlock()
	folder := filepath.Join(cacheDir(), "program")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	id := sha256.Sum256([]byte(root)) // of the working copy
	latest := filepath.Join(folder, "latest-"+hex.EncodeToString(id[:6]))
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", latest, "./cmd/landfall")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building landfall: %w: %s", err, output)
	}
	path, err := addressed(folder, latest)
	if err != nil {
		return "", err
	}
	return path, removeOld(folder)
})

// moduleRoot returns the folder of the go.mod file above the working directory.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "cmd", "landfall")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("no folder above the working directory has cmd/landfall")
		}
		folder = parent
	}
}

// watch reads the names of all files in a folder.
func watch(folder string, recursive bool) error {
	if !recursive {
		_, err := os.ReadDir(folder)
		return err
	}
	return filepath.WalkDir(folder, func(_ string, _ fs.DirEntry, err error) error { return err })
}

// addressed returns a link to a program that is named after its content.
func addressed(folder, latest string) (string, error) {
	file, err := os.Open(latest)
	if err != nil {
		return "", err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "landfall-"+hex.EncodeToString(digest.Sum(nil)[:12]))
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil {
		return path, nil
	}
	// A hard link, because the go command replaces its output instead of
	// overwriting it.
	return path, os.Link(latest, path)
}

// removeOld removes programs that no test asked for in the last day.
func removeOld(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
	return nil
}
