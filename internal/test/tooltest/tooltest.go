// Package tooltest gives tests the programs that they need: landfall itself,
// servers to talk to, linters and programs of the system. Programs of others are
// pinned to a version and installed once into the user's cache. None is a
// dependency of the product. Only test files import it.
package tooltest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Go returns the path of a program written in Go, of exactly that version.
func Go(t *testing.T, module, version string) string {
	t.Helper()
	name := filepath.Base(module)
	folder := filepath.Join(cacheDir(), name+"@"+version)
	if fetched(folder) {
		return filepath.Join(folder, name)
	}
	partial := begin(t, folder)
	install := exec.CommandContext(t.Context(), "go", "install", module+"@"+version)
	// Outside this module and without its flags, so that the dependencies are the
	// ones that the tool pins and the result is the same on every machine.
	install.Dir = partial
	install.Env = append(os.Environ(), "GOBIN="+partial, "GOFLAGS=", "CGO_ENABLED=0")
	if output, err := install.CombinedOutput(); err != nil {
		missingf(t, "%s cannot be installed: %v\n%s", module, err, output)
	}
	finish(t, partial, folder)
	return filepath.Join(folder, name)
}

// Node returns a folder with the Node packages that the lock file in the folder
// locked pins. Each version of a lock file has its own folder.
func Node(t *testing.T, locked string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missingf(t, "%s is missing: install Node.js", program)
		}
	}
	sum := sha256.Sum256(read(t, filepath.Join(locked, "package-lock.json")))
	folder := filepath.Join(cacheDir(), "node-"+hex.EncodeToString(sum[:6]))
	if fetched(folder) {
		return folder
	}
	partial := begin(t, folder)
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		if err := os.WriteFile(filepath.Join(partial, name), read(t, filepath.Join(locked, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Packages must not run their scripts on a developer's machine.
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = partial
	if output, err := install.CombinedOutput(); err != nil {
		missingf(t, "the packages of %s cannot be installed: %v\n%s", locked, err, output)
	}
	finish(t, partial, folder)
	return folder
}

// missingf skips a test whose tool is not available. In CI it fails the test, so
// that no test stops running unnoticed.
func missingf(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// SkipIfShort skips a test that takes seconds: one that waits for time limits,
// kills servers or opens thousands of connections. make test runs with -short,
// make proofs without it.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: make proofs runs this test")
	}
}

// cacheDir is the folder that installed programs are kept in.
func cacheDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "landfall-tools")
}

// fetched reports whether a folder is complete: it gets its name last.
func fetched(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

// begin creates a folder to install into, and finish renames it. The rename is
// atomic, so test processes that run in parallel never see an incomplete tool.
// When two install the same tool, the second keeps the folder of the first.
func begin(t *testing.T, folder string) string {
	t.Helper()
	partial := folder + ".partial" + strconv.Itoa(os.Getpid())
	if err := os.MkdirAll(partial, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(partial) })
	return partial
}

func finish(t *testing.T, partial, folder string) {
	t.Helper()
	if err := os.Rename(partial, folder); err != nil && !fetched(folder) {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
