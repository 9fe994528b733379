// Package tooltest gives tests the programs of others that they need: servers
// to talk to, public judges of what we serve, and programs of the system. The
// former are pinned to a version and installed once into the user's cache; none
// is ever a dependency of the program.
// Only test files import it.
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

// Go gives the path of a program written in Go, of that very version.
func Go(t *testing.T, module, version string) string {
	t.Helper()
	name := filepath.Base(module)
	folder := filepath.Join(shelf(), name+"@"+version)
	if fetched(folder) {
		return filepath.Join(folder, name)
	}
	half := begin(t, folder)
	install := exec.CommandContext(t.Context(), "go", "install", module+"@"+version)
	// Outside our module and without our flags: the tool is built as its own module
	// pins it, and the same on every machine.
	install.Dir = half
	install.Env = append(os.Environ(), "GOBIN="+half, "GOFLAGS=", "CGO_ENABLED=0")
	if output, err := install.CombinedOutput(); err != nil {
		lackf(t, "%s cannot be installed: %v\n%s", module, err, output)
	}
	finish(t, half, folder)
	return filepath.Join(folder, name)
}

// Node gives a folder with the Node packages that the lock file in a folder of
// ours pins. A changed lock file gets a folder of its own.
func Node(t *testing.T, locked string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			lackf(t, "%s is missing: install Node.js", program)
		}
	}
	lock := read(t, filepath.Join(locked, "package-lock.json"))
	sum := sha256.Sum256(lock)
	folder := filepath.Join(shelf(), "node-"+hex.EncodeToString(sum[:6]))
	if fetched(folder) {
		return folder
	}
	half := begin(t, folder)
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		if err := os.WriteFile(filepath.Join(half, name), read(t, filepath.Join(locked, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// No package may run a script of its own on the machine of a developer.
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = half
	if output, err := install.CombinedOutput(); err != nil {
		lackf(t, "the packages of %s cannot be installed: %v\n%s", locked, err, output)
	}
	finish(t, half, folder)
	return folder
}

// lackf skips a test whose tool cannot be had, but never in CI: a proof that
// silently stops running is none.
func lackf(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func shelf() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "landfall-tools")
}

// fetched takes a folder for whole by its name alone, which it gets last.
func fetched(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

// begin makes a folder to fetch into, and finish moves it to its place. The
// move is atomic, so packages testing side by side never meet half a tool;
// whoever comes second finds like in place of like.
func begin(t *testing.T, folder string) string {
	t.Helper()
	half := folder + ".half" + strconv.Itoa(os.Getpid())
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(half) })
	return half
}

func finish(t *testing.T, half, folder string) {
	t.Helper()
	if err := os.Rename(half, folder); err != nil && !fetched(folder) {
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
