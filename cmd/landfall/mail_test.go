package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"landfall/internal/test/mailtest"
)

// mailserverCommand runs a real mail server and gives a script its settings. Received mails are in
// received.jsonl.
func mailserverCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		server := mailtest.Start(t, "starttls")
		work := ts.Getenv("WORK")
		ts.Check(os.WriteFile(filepath.Join(work, "password"), []byte(mailtest.Password+"\n"), 0o600))
		_ = os.Remove(filepath.Join(work, "received.jsonl")) // of an earlier server
		ts.Check(os.Symlink(server.File, filepath.Join(work, "received.jsonl")))
		for name, text := range map[string]string{
			"SMTP_SERVER": server.Address, "SMTP_CA_FILE": server.CAFile, "SMTP_USER": mailtest.User,
			"SMTP_PASSWORD_FILE": filepath.Join(work, "password"), "SMTP_TIMEOUT": "5s", "MAIL_FROM": "North <hello@north.example>",
		} {
			ts.Setenv("LANDFALL_"+name, text)
		}
	}
}
