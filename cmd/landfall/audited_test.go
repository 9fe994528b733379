package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// auditedCommands are the commands that change the database, with their audit action, which a
// script checks.
var auditedCommands = map[string]string{
	"account erase": "account.erase", "account export": "account.export", "account release": "account.release", "account skip": "account.skip", "account undo": "account.undo",
	"account unskip": "account.unskip", "backup": "database.backup", "copy": "database.copy", "key create": "key.create", "key revoke": "key.revoke", "key rotate": "key.rotate",
	"mail bounced": "mail.bounced", "mail retry": "mail.retry", "mail withdraw": "mail.withdraw",
	"operator create": "operator.create", "operator disable": "operator.disable", "operator enable": "operator.enable",
	"operator reset": "operator.reset", "operator role": "operator.role", "organisation create": "organisation.create", "organisation disable": "organisation.disable",
	"organisation enable": "organisation.enable", "organisation set": "organisation.set", "pack add": "pack.add", "purge": "supplier.purge", "recount": "supplier.recount", "rekey": "encryption.rekey",
	"reconcile sign-off": "reconciliation.sign_off", "restore": "database.restore", "run start": "run.start", "run pause": "run.pause",
	"run resume": "run.resume", "run cancel": "run.cancel", "run undo": "run.undo", "supplier create": "supplier.create",
	"supplier grant": "supplier.grant", "supplier revoke": "supplier.revoke", "supplier set": "supplier.set", "team create": "team.create",
	"delivery confirm": "delivery.confirm", "delivery restart": "delivery.restart", "delivery retry": "target.replay",
	"target backfill": "target.backfill", "target pause": "target.pause", "target remove": "target.remove", "target replay": "target.replay",
	"target resume": "target.resume", "target rotate": "target.rotate", "target set": "target.set",
	"vendor grant": "vendor.grant", "vendor remove": "vendor.remove", "vendor revoke": "vendor.revoke", "vendor set": "vendor.set",
	"webhook add": "webhook.add", "webhook disable": "webhook.disable", "webhook enable": "webhook.enable", "webhook remove": "webhook.remove",
	"webhook replay": "webhook.replay", "webhook rotate": "webhook.rotate",
}

// unauditedCommands change nothing that is audited, or let servers do it, which write the audit
// entry themselves.
var unauditedCommands = []string{
	"account diff", "account duplicates", "account errors", "account failed", "account find", "account show", "audit export", "audit key", "audit list", "audit verify",
	"config check", "config print", "convert", "delivery list", "delivery show", "demo", "doctor", "export", "generate", "handbook", "health", "import", "key list", "mail list", "mail preview", "mail show", "mail test", "man", "openapi",
	"operator list", "organisation list", "organisation show", "pack check", "pack list", "pack show", "reconcile reports", "replicas", "reconcile totals", "reconcile show", "rules", "run list", "run show",
	"schema apply", "schema status", "serve", "supplier list", "supplier show", "target check", "target list", "target serve", "target show", "target test", "team list", "validate", "vendor list", "verify", "version",
	"webhook list", "webhook log", "webhook show", "webhook test",
}

// TestEveryChangeIsAudited fails if a new command is in neither list, or if no script checks its
// audit entry.
func TestEveryChangeIsAudited(t *testing.T) {
	var shown strings.Builder
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	var walk func(*cobra.Command, string)
	walk = func(command *cobra.Command, path string) {
		for _, next := range command.Commands() {
			walk(next, strings.TrimSpace(path+" "+next.Name()))
		}
		if path == "" || path == "help" || strings.HasPrefix(path, "completion") || command.HasSubCommands() {
			return // a group says what there is
		}
		action, changes := auditedCommands[path]
		if changes == slices.Contains(unauditedCommands, path) {
			t.Errorf("does 'landfall %s' change anything?", path)
		}
		if changes && !strings.Contains(shown.String(), `"action": "`+action+`"`) {
			t.Errorf("no script shows that 'landfall %s' is in the audit as %s", path, action)
		}
	}
	walk(newRoot(nil), "")
}
