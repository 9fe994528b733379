package contract

import (
	"time"

	"landfall"
)

// TransferStatus is how far an account is, and what is known of it when the caller
// asked for that.
type TransferStatus struct {
	Status, Number string
	Process        *landfall.Process        // nil: not asked for
	Figures        *landfall.AccountFigures // nil: not asked for, or no account
	Undone         []landfall.UndoneAccount // taken back earlier, when asked for
}

// StatusBody answers the question how far an account is.
var StatusBody = &Body[TransferStatus]{
	name: "TransferStatus", doc: "How far an account is.",
	members: []member[TransferStatus]{
		stringMember("status", "", func(s TransferStatus) string { return s.Status }).withSchema(enumSchema("UNKNOWN", "IN_PROGRESS", "COMPLETED")),
		stringMember("platform_account_number", "Empty until the account exists.", func(s TransferStatus) string { return s.Number }),
		stringMember("state", "With `detail`: where the account stands.", TransferStatus.state).
			withSchema(enumSchema("STAGED", "FAILED", "SKIPPED", "CLAIMED", "IMPORTED")).onlyIf(TransferStatus.detailed),
		intMember("revision", "With `detail`: of the staged data, counted from 1.", func(s TransferStatus) int { return s.Process.Revision }).
			onlyIf(TransferStatus.detailed),
		timeMember("staged_at", "With `detail`: when that revision was staged.", func(s TransferStatus) time.Time { return s.Process.StagedAt }).
			withSchema(map[string]any{"type": []string{"string", "null"}, "format": "date-time"}).onlyIf(TransferStatus.detailed),
		{
			name: "last_failure", doc: "With `detail`: why the last attempt failed; null when none did.",
			schema:  map[string]any{"oneOf": []any{schemaRef(failureBody.name), map[string]any{"type": "null"}}},
			present: TransferStatus.detailed,
			write: func(dst []byte, s TransferStatus) []byte {
				if s.Process.Failure == nil {
					return append(dst, "null"...)
				}
				return failureBody.Append(dst, *s.Process.Failure)
			},
		},
		nullableString("skip_reason", "With `detail`: why the operator marked the account to be skipped.", func(s TransferStatus) (string, bool) {
			return s.Process.SkipReason, s.Process.State == landfall.Skipped
		}).onlyIf(TransferStatus.detailed),
		timeMember("created_at", "With `detail`, of a created account.", func(s TransferStatus) time.Time { return s.Figures.CreatedAt }).
			onlyIf(TransferStatus.created),
		stringMember("balance", "With `detail`, of a created account: positive when the customer is in credit.", func(s TransferStatus) string {
			return s.Figures.Balance.String()
		}).onlyIf(TransferStatus.created),
		stringMember("currency", "With `detail`, of a created account.", func(s TransferStatus) string { return s.Figures.Currency }).onlyIf(TransferStatus.created),
		intMember("ledger_entries", "With `detail`, of a created account.", func(s TransferStatus) int { return s.Figures.LedgerEntries }).
			onlyIf(TransferStatus.created),
		intMember("notes", "With `detail`, of a created account.", func(s TransferStatus) int { return s.Figures.Notes }).onlyIf(TransferStatus.created),
		intMember("statements", "With `detail`, of a created account.", func(s TransferStatus) int { return s.Figures.Statements }).
			onlyIf(TransferStatus.created),
		listMember("undone_accounts", "With `detail`, when accounts were taken back: the numbers they had, oldest first.", undoneBody,
			func(s TransferStatus) []landfall.UndoneAccount { return s.Undone }).onlyIf(TransferStatus.hasUndone),
	},
	example: TransferStatus{Status: "COMPLETED", Number: exampleNumber},
}

// detailed says that details were asked for.
func (s TransferStatus) detailed() bool { return s.Process != nil }

// hasUndone says that an account of this process was taken back.
func (s TransferStatus) hasUndone() bool { return len(s.Undone) > 0 }

// created says that there is an account.
func (s TransferStatus) created() bool { return s.Figures != nil }

// state tells an account whose last attempt failed from one that nobody tried.
func (s TransferStatus) state() string {
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
	members: []member[landfall.UndoneAccount]{
		stringMember("platform_account_number", "", func(u landfall.UndoneAccount) string { return u.Number }),
		timeMember("account_created_at", "", func(u landfall.UndoneAccount) time.Time { return u.CreatedAt }),
		timeMember("undone_at", "", func(u landfall.UndoneAccount) time.Time { return u.UndoneAt }),
	},
}

// failureBody is why an attempt failed.
var failureBody = &Body[landfall.Failure]{
	name: "Failure", doc: "Why the last attempt to create an account failed.",
	members: []member[landfall.Failure]{
		timeMember("failed_at", "", func(f landfall.Failure) time.Time { return f.At }),
		boolMember("dry_run", "Whether the attempt was a dry run.", func(f landfall.Failure) bool { return f.DryRun }),
		stringMember("code", "", func(f landfall.Failure) string { return f.Code }),
		stringMember("detail", "", func(f landfall.Failure) string { return f.Detail }),
		listMember("errors", "", ViolationBody, func(f landfall.Failure) []landfall.Violation { return f.Violations }),
	},
}
