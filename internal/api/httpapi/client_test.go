package httpapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/test/tooltest"
)

// The OpenAPI document is only useful if generators can use it. Each client is
// generated from the checked-in document, compiled, and imports an account: it
// stages, creates, reads and posts, without changing any amount.
func TestGeneratedClientsImportAnAccount(t *testing.T) {
	tooltest.SkipIfShort(t)
	description, err := filepath.Abs(checkedIn)
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func(*testing.T, string) *exec.Cmd{"go": goClient, "typescript": typescriptClient} {
		t.Run(name, func(t *testing.T) {
			client := build(t, description)
			h := newTestAPI(t)
			client.Args = append(client.Args, h.server.URL, h.keys["importer"], "OURS", "EXT-"+name)
			output, err := client.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			var account landfall.Account
			err = h.store.View(t.Context(), func(view landfall.View) (err error) {
				account, err = view.AccountByNumber(t.Context(), strings.TrimSpace(string(output)))
				return err
			})
			if want := money.Amount(3 * 1234567_890); err != nil || account.Balance != want {
				t.Errorf("the balance is %s, want %s; %v", account.Balance, want, err)
			}
		})
	}
}

// goClient generates a client with oapi-codegen and compiles it.
func goClient(t *testing.T, description string) *exec.Cmd {
	generator := tooltest.Go(t, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen", "v2.8.1")
	folder := copyFolder(t, "testdata/client/go")
	run(t, folder, generator, "-package", "main", "-generate", "types,client", "-o", "client.go", description)
	run(t, folder, "go", "build", "-mod=mod", "-o", "client", ".")
	return exec.CommandContext(t.Context(), filepath.Join(folder, "client"))
}

// typescriptClient generates a client with openapi-typescript and compiles it
// with the strictest compiler settings.
func typescriptClient(t *testing.T, description string) *exec.Cmd {
	modules := filepath.Join(tooltest.Node(t, "testdata/client/node"), "node_modules")
	folder := copyFolder(t, "testdata/client/node")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run(t, folder, filepath.Join(modules, ".bin", "openapi-typescript"), description, "-o", "api.d.ts")
	run(t, folder, filepath.Join(modules, ".bin", "tsc"))
	client := exec.CommandContext(t.Context(), "node", "move.js")
	client.Dir = folder
	return client
}

// copyFolder returns a writable copy of a folder.
func copyFolder(t *testing.T, folder string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// run runs a program that must succeed.
func run(t *testing.T, folder, program string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, output)
	}
}
