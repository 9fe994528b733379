package console

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

// runInBrowser runs a script of testdata/browser with the browser's path and other
// arguments. The script prints what went wrong. It returns the pages that axe has seen,
// each as a method and a path.
func runInBrowser(t *testing.T, name string, arguments ...string) (inspected []string) {
	t.Helper()
	browser := tooltest.Debian(t, "chromium")
	modules := filepath.Join(tooltest.Node(t, "testdata/browser"), "node_modules")
	folder := t.TempDir()
	for _, file := range []string{name, "axe.mjs"} {
		script, err := os.ReadFile(filepath.Join("testdata/browser", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), script, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	visit := exec.CommandContext(t.Context(), "node", append([]string{name, browser}, arguments...)...)
	visit.Dir, visit.Stderr = folder, os.Stderr
	output, err := visit.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var report struct{ Wrong, Inspected []string }
	if err := json.Unmarshal(output, &report); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, one := range report.Wrong {
		t.Error(one)
	}
	return report.Inspected
}

// A real browser with a virtual authenticator registers a passkey, signs in with it and
// removes it. Browsers allow passkeys for localhost and not for 127.0.0.1.
func TestPasskeys(t *testing.T) {
	tooltest.SkipIfShort(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		h := testConsoleOn(t, database)
		link, err := h.operator().CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
		if err != nil {
			t.Fatal(err)
		}
		runInBrowser(t, "passkey.mjs", strings.Replace(h.server.URL, "127.0.0.1", "localhost", 1), consolePath("welcome", link.Reveal()), testPassword)
		ada := h.signedInAs("olga", landfall.ConsoleAuditor)
		ada.wantPage("/console/admin/audit/?subject=ada", "added laptop", "removed laptop", "by passkey")
	})
}

// Garbage instead of the answer of a passkey is refused.
func TestPasskeyGarbage(t *testing.T) {
	h := newTestConsole(t)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	for _, garbage := range []string{"", "{}", "null", `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`, strings.Repeat("[", 10_000)} {
		form := map[string][]string{"credential": {garbage}, "name": {"laptop"}}
		if status, body := h.anonymous().post("/console/sign-in/passkey/finish/", form); status != 401 || !strings.Contains(body, "The passkey was not accepted") {
			t.Errorf("sign-in with %.40q: %d\n%s", garbage, status, body)
		}
		if status, body := ada.post("/console/me/passkeys/finish/", form); status != 400 || !strings.Contains(body, "Start again") {
			t.Errorf("registration with %.40q: %d\n%s", garbage, status, body)
		}
	}
}
