package accountview

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall"
)

// CodeLabel writes a code in words: SUPPLY_CHARGE is "Supply charge".
func CodeLabel(code string) string {
	words := strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(strings.ToLower(code)))
	first, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + words[size:]
}

// ActionLabel says in words what an entry of the audit or an event reports. One that has
// no sentence is shown with its code in words.
func ActionLabel(action string) string {
	return cmp.Or(ActionSentence(action), CodeLabel(action))
}

// ActionSentence is the label of an action or an event that is known, and otherwise "".
func ActionSentence(action string) string { return actionLabels[action] }

// actionLabels has a sentence for every action of the audit and every event.
var actionLabels = map[string]string{
	string(landfall.EventImportCompleted): "Account created", string(landfall.EventImportFailed): "Attempt to create the account failed",
	string(landfall.EventDryRunCompleted): "Dry run passed", string(landfall.EventDryRunFailed): "Dry run failed",
	string(landfall.EventSkipped): "Account skipped", string(landfall.EventUnskipped): "Account unskipped", string(landfall.EventUndone): "Account undone",
	string(landfall.EventDelivered): "Account delivered to the target", string(landfall.EventDeliveryRefused): "Target refused the account",
	string(landfall.EventNotesCreated): "Notes added", string(landfall.EventTransactionsCreated): "Transactions added",
	string(landfall.EventStatementsCreated): "Historical statements added", string(landfall.EventInstructionCreated): "Payment instruction added",
	string(landfall.EventPostingFailed): "Something sent for the account was refused", string(landfall.EventSupplierStatusChanged): "Supplier status changed",
	string(landfall.EventRunStarted): "Run started", string(landfall.EventRunPaused): "Run paused", string(landfall.EventRunFinished): "Run finished",
	string(landfall.EventRunCancelled): "Run cancelled", string(landfall.EventSignedOff): "Reconciliation signed off",
	string(landfall.EventWebhookTest): "Webhook tested",

	"account.stage": "Account staged", "account.post": "Account added to", "account.read": "Account read", "account.read_all": "All accounts read",
	"account.reveal": "Personal data revealed", "account.check": "Caller checked", "account.export": "All data exported",
	"account.erase": "Personal data erased", "account.release": "Claim freed", "account.skip": "Account skipped",
	"account.unskip": "Account unskipped", "account.undo": "Account undone", "accounts.change": "Accounts changed",
	"run.start": "Run started", "run.pause": "Run paused", "run.resume": "Run resumed", "run.cancel": "Run cancelled",
	"run.undo": "Run undone", "run.recount": "Run recounted", "search.recount": "Search index corrected",
	"supplier.create": "Supplier created", "supplier.set": "Supplier changed", "supplier.grant": "Access to a supplier granted",
	"supplier.revoke": "Access to a supplier removed", "supplier.purge": "Old data removed", "supplier.recount": "Totals counted again",
	"control_totals.set": "Control totals set", landfall.SignOffAction: "Reconciliation signed off",
	"organisation.create": "Organisation created", "organisation.set": "Limits of an organisation changed",
	"organisation.enable": "Organisation enabled", "organisation.disable": "Organisation disabled",
	"key.create": "API key created", "key.rotate": "API key replaced", "key.revoke": "API key revoked",
	"team.create": "Team created", "pack.add": "Pack added",
	"operator.create": "Operator invited", "operator.enable": "Operator enabled", "operator.disable": "Operator disabled",
	"operator.role": "Role changed", "operator.reset": "Sign-in reset", "operator.password": "Password changed",
	"operator.second_factor": "Two-factor authentication changed", "operator.passkey": "Passkeys changed",
	"operator.recovery_codes": "Recovery codes used or renewed",
	"session.start":           "Signed in", "session.end": "Session ended", "session.refuse": "Sign-in refused",
	"vendor.set": "Payment vendor changed", "vendor.grant": "Payment vendor granted", "vendor.revoke": "Payment vendor no longer granted",
	"vendor.remove": "Payment vendor removed", "vendor.check": "Payment vendor tested",
	"webhook.add": "Webhook added", "webhook.enable": "Webhook enabled", "webhook.disable": "Webhook disabled",
	"webhook.remove": "Webhook removed", "webhook.replay": "Webhook events sent again", "webhook.rotate": "Webhook secret replaced",
	"webhook.gone": "Webhook switched off: its receiver is gone",
	"target.set":   "Target changed", "target.remove": "Target removed", "target.pause": "Target paused", "target.resume": "Target resumed",
	"target.replay": "Deliveries sent again", "target.rotate": "Target secret replaced", "target.test": "Target tested",
	"target.backfill":  "Existing accounts queued for the target",
	"delivery.confirm": "Delivery confirmed by hand", "delivery.restart": "Deliveries of an account restarted",
	"mail.retry": "Mail sent again", "mail.withdraw": "Mail withdrawn", "mail.bounced": "Bounce of a mail recorded",
	"database.backup": "Database backed up", "database.restore": "Database restored", "database.copy": "Database copied",
	"encryption.rekey": "Encryption key changed",
}
