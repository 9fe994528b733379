package intake

import (
	"time"

	"landfall"
)

// What several verbs refuse in the same words.
var (
	errMarkedAsSkipped    = landfall.Refuse(landfall.CodeMarkedAsSkipped, "This account is marked to be skipped.")
	ErrSupplierNotOngoing = landfall.Refuse(landfall.CodeSupplierNotOngoing, "The migration of this import supplier is paused or complete.")
)

// importInProgress says when the account will be free at the latest.
func importInProgress(left time.Duration) error {
	refusal := landfall.Refuse(landfall.CodeImportInProgress, "This account is being imported right now.")
	refusal.RetryAfter = max(left, time.Second)
	return refusal
}

// alreadyImported names the account that exists, so that the caller need not ask.
func alreadyImported(key landfall.Key, number string) error {
	refusal := landfall.Refuse(landfall.CodeAlreadyImported, "This account has already been imported.")
	refusal.Members = []landfall.Member{
		{Name: "external_account_number", Value: key.External},
		{Name: "platform_account_number", Value: number},
	}
	return refusal
}
