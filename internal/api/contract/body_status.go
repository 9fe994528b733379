package contract

import (
	"time"

	"landfall"
)

// Standing is how far an account is, and what is known of it when the caller
// asked for that.
type Standing struct {
	Status, Number string
	Process        *landfall.Process        // nil: not asked for
	Figures        *landfall.AccountFigures // nil: not asked for, or no account
	Undone         []landfall.UndoneAccount // taken back earlier, when asked for
}

// StatusBody answers the question how far an account is.
var StatusBody = &Body[Standing]{
	name: "TransferStatus", doc: "How far an account is.",
	members: []memberOf[Standing]{
		says("status", "", func(s Standing) string { return s.Status }).as(oneOfTexts("UNKNOWN", "IN_PROGRESS", "COMPLETED")),
		says("platform_account_number", "Empty until the account exists.", func(s Standing) string { return s.Number }),
		says("state", "With `detail`: where the account stands.", Standing.state).
			as(oneOfTexts("STAGED", "FAILED", "SKIPPED", "CLAIMED", "IMPORTED")).when(Standing.detailed),
		counts("revision", "With `detail`: of the staged data, counted from 1.", func(s Standing) int { return s.Process.Revision }).
			when(Standing.detailed),
		happens("staged_at", "With `detail`: when that revision was staged.", func(s Standing) time.Time { return s.Process.StagedAt }).
			as(map[string]any{"type": []string{"string", "null"}, "format": "date-time"}).when(Standing.detailed),
		{
			name: "last_failure", doc: "With `detail`: why the last attempt failed; null when none did.",
			schema: map[string]any{"oneOf": []any{refTo(failureBody.name), map[string]any{"type": "null"}}},
			given:  Standing.detailed,
			write: func(dst []byte, s Standing) []byte {
				if s.Process.Failure == nil {
					return append(dst, "null"...)
				}
				return failureBody.Append(dst, *s.Process.Failure)
			},
		},
		saysOrNull("skip_reason", "With `detail`: why the operator marked the account to be skipped.", func(s Standing) (string, bool) {
			return s.Process.SkipReason, s.Process.State == landfall.Skipped
		}).when(Standing.detailed),
		happens("created_at", "With `detail`, of a created account.", func(s Standing) time.Time { return s.Figures.CreatedAt }).
			when(Standing.created),
		says("balance", "With `detail`, of a created account: positive when the customer is in credit.", func(s Standing) string {
			return s.Figures.Balance.String()
		}).when(Standing.created),
		says("currency", "With `detail`, of a created account.", func(s Standing) string { return s.Figures.Currency }).when(Standing.created),
		counts("ledger_entries", "With `detail`, of a created account.", func(s Standing) int { return s.Figures.LedgerEntries }).
			when(Standing.created),
		counts("notes", "With `detail`, of a created account.", func(s Standing) int { return s.Figures.Notes }).when(Standing.created),
		counts("statements", "With `detail`, of a created account.", func(s Standing) int { return s.Figures.Statements }).
			when(Standing.created),
		holds("undone_accounts", "With `detail`, when accounts were taken back: the numbers they had, oldest first.", undoneBody,
			func(s Standing) []landfall.UndoneAccount { return s.Undone }).when(Standing.takenBack),
	},
	example: Standing{Status: "COMPLETED", Number: exampleNumber},
}

// detailed says that details were asked for.
func (s Standing) detailed() bool { return s.Process != nil }

// takenBack says that an account of this process was taken back.
func (s Standing) takenBack() bool { return len(s.Undone) > 0 }

// created says that there is an account.
func (s Standing) created() bool { return s.Figures != nil }

// state tells an account whose last attempt failed from one that nobody tried.
func (s Standing) state() string {
	switch s.Process.State {
	case landfall.Imported:
		return "IMPORTED"
	case landfall.Claimed:
		return "CLAIMED"
	case landfall.Skipped:
		return "SKIPPED"
	}
	if s.Process.Failure != nil {
		return "FAILED"
	}
	return "STAGED"
}

// undoneBody is an account that was taken back. Why is the operator's business.
var undoneBody = &Body[landfall.UndoneAccount]{
	name: "UndoneAccount", doc: "An account that the operator took back. Its number is never given again.",
	members: []memberOf[landfall.UndoneAccount]{
		says("platform_account_number", "", func(u landfall.UndoneAccount) string { return u.Number }),
		happens("account_created_at", "", func(u landfall.UndoneAccount) time.Time { return u.CreatedAt }),
		happens("undone_at", "", func(u landfall.UndoneAccount) time.Time { return u.UndoneAt }),
	},
}

// failureBody is why an attempt failed.
var failureBody = &Body[landfall.Failure]{
	name: "Failure", doc: "Why the last attempt to create an account failed.",
	members: []memberOf[landfall.Failure]{
		happens("failed_at", "", func(f landfall.Failure) time.Time { return f.At }),
		tells("dry_run", "Whether the attempt was a dry run.", func(f landfall.Failure) bool { return f.DryRun }),
		says("code", "", func(f landfall.Failure) string { return f.Code }),
		says("detail", "", func(f landfall.Failure) string { return f.Detail }),
		holds("errors", "", ViolationBody, func(f landfall.Failure) []landfall.Violation { return f.Violations }),
	},
}
