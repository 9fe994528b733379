package document_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// tool gives the path of a server that a test talks to, installing that very
// version once. Where it cannot be had the test is skipped, but never in CI: a
// proof that silently stops running is none.
func tool(t *testing.T, module, version string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "landfall-tools", filepath.Base(module)+"@"+version)
	binary := filepath.Join(folder, filepath.Base(module))
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	install := exec.CommandContext(t.Context(), "go", "install", module+"@"+version)
	install.Dir = t.TempDir()
	install.Env = append(os.Environ(), "GOBIN="+install.Dir, "GOFLAGS=", "CGO_ENABLED=0")
	if output, err := install.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s cannot be installed: %v\n%s", module, err, output)
		}
		t.Skipf("%s cannot be installed here: %v", module, err)
	}
	// The move is atomic, so packages testing side by side do not meet half a
	// file; whoever comes second replaces like with like.
	content, err := os.ReadFile(filepath.Join(install.Dir, filepath.Base(module)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	half := binary + ".half" + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(half, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(half, binary); err != nil {
		t.Fatal(err)
	}
	return binary
}
