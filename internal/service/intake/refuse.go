package intake

import (
	"time"

	"landfall"
)

// Refusals of several operations.
var (
	errMarkedAsSkipped    = landfall.Refuse(landfall.CodeMarkedAsSkipped, "This account is marked to be skipped.")
	ErrSupplierNotOngoing = landfall.Refuse(landfall.CodeSupplierNotOngoing, "The migration of this import supplier is paused or complete.")
)

// importInProgress says when the account is free at the latest.
func importInProgress(left time.Duration) *landfall.Error {
	refusal := landfall.Refuse(landfall.CodeImportInProgress, "This account is being imported right now.")
	refusal.RetryAfter = max(left, time.Second)
	return refusal
}

// alreadyImported contains the number of the existing account.
func alreadyImported(key landfall.Key, number string) *landfall.Error {
	refusal := landfall.Refuse(landfall.CodeAlreadyImported, "This account has already been imported.")
	refusal.Members = []landfall.Member{
		{Name: "external_account_number", Value: key.External},
		{Name: "platform_account_number", Value: number},
	}
	return refusal
}
