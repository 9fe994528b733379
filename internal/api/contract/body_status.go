package contract

import (
	"time"

	"landfall"
)

// TransferStatus is the import status of an account, with details if requested.
type TransferStatus struct {
	Status, Number string
	Process        *landfall.Process        // nil: details not requested
	Figures        *landfall.AccountFigures // nil: details not requested, or no account
	Fingerprint    string                   // of the record; "" without one
	Delivery       landfall.AccountDelivery
	Undone         []landfall.UndoneAccount // accounts undone before, if requested
}

// StatusBody is the response to a status request.
var StatusBody = &Body[TransferStatus]{
	name: "TransferStatus", doc: "Import status of an account.",
	members: []bodyMember[TransferStatus]{
		stringMember("status", "", func(s TransferStatus) string { return s.Status }).withSchema(enumSchema("UNKNOWN", "IN_PROGRESS", "COMPLETED")),
		stringMember("platform_account_number", "Empty until the account has been created.", func(s TransferStatus) string { return s.Number }),
		stringMember("state", "With `detail`: detailed state of the account.", TransferStatus.state).
			withSchema(enumSchema("STAGED", "FAILED", "SKIPPED", "CLAIMED", "IMPORTED")).onlyIf(TransferStatus.detailed),
		intMember("revision", "With `detail`: revision of the staged data, starting at 1.", func(s TransferStatus) int { return s.Process.Revision }).
			onlyIf(TransferStatus.detailed),
		timeMember("staged_at", "With `detail`: when this revision was staged.", func(s TransferStatus) time.Time { return s.Process.StagedAt }).
			withSchema(nullableTimeSchema).onlyIf(TransferStatus.detailed),
		{
			name: "last_failure", doc: "With `detail`: why the last attempt failed; null if it did not fail.",
			schema:  map[string]any{"oneOf": []any{schemaRef(failureBody.name), map[string]any{"type": "null"}}},
			present: TransferStatus.detailed,
			write: func(dst []byte, s TransferStatus) []byte {
				if s.Process.Failure == nil {
					return append(dst, "null"...)
				}
				return failureBody.Append(dst, *s.Process.Failure)
			},
		},
		nullableString("skip_reason", "With `detail`: why the operator marked the account as skipped.", func(s TransferStatus) (string, bool) {
			return s.Process.SkipReason, s.Process.State == landfall.Skipped
		}).onlyIf(TransferStatus.detailed),
		timeMember("created_at", "With `detail`, if the account exists.", func(s TransferStatus) time.Time { return s.Figures.CreatedAt }).
			onlyIf(TransferStatus.created),
		stringMember("balance", "With `detail`, if the account exists. Positive means the customer is in credit.", func(s TransferStatus) string {
			return s.Figures.Balance.String()
		}).onlyIf(TransferStatus.created),
		stringMember("currency", "With `detail`, if the account exists.", func(s TransferStatus) string { return s.Figures.Currency }).onlyIf(TransferStatus.created),
		intMember("ledger_entries", "With `detail`, if the account exists.", func(s TransferStatus) int { return s.Figures.LedgerEntries }).
			onlyIf(TransferStatus.created),
		intMember("notes", "With `detail`, if the account exists.", func(s TransferStatus) int { return s.Figures.Notes }).onlyIf(TransferStatus.created),
		intMember("statements", "With `detail`, if the account exists.", func(s TransferStatus) int { return s.Figures.Statements }).
			onlyIf(TransferStatus.created),
		nullableString("fingerprint", "With `detail`, if the account exists: SHA-256 of the canonical form (RFC 8785) of its record. Null if the record was erased.",
			func(s TransferStatus) (string, bool) { return s.Fingerprint, s.Fingerprint != "" }).onlyIf(TransferStatus.created),
		stringMember("delivery", "With `detail`, if the account exists: how far its delivery to a target is. `NONE` means that it has no target.",
			func(s TransferStatus) string { return DeliveryState(s.Delivery.State) }).withSchema(enumSchema(deliveryStates...)).onlyIf(TransferStatus.created),
		stringMember("target_id", "With `detail`: the target's name for the account, if it gave one.", func(s TransferStatus) string { return s.Delivery.TargetID }).
			onlyIf(func(s TransferStatus) bool { return s.Delivery.TargetID != "" }),
		listMember("undone_accounts", "With `detail`, if the account was undone before: each time, oldest first.", undoneBody,
			func(s TransferStatus) []landfall.UndoneAccount { return s.Undone }).onlyIf(TransferStatus.hasUndone),
	},
	example: TransferStatus{Status: "COMPLETED", Number: exampleNumber},
}

// detailed reports whether details were requested.
func (s TransferStatus) detailed() bool { return s.Process != nil }

// hasUndone reports whether the account was undone before.
func (s TransferStatus) hasUndone() bool { return len(s.Undone) > 0 }

// created reports whether the account exists.
func (s TransferStatus) created() bool { return s.Figures != nil }

// state distinguishes accounts whose last attempt failed from those that were
// never tried.
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

// undoneBody is an undone account. The reason is only for the operator.
var undoneBody = &Body[landfall.UndoneAccount]{
	name: "UndoneAccount", doc: "An account that the operator undid. It has the same number when it is created again.",
	members: []bodyMember[landfall.UndoneAccount]{
		stringMember("platform_account_number", "", func(u landfall.UndoneAccount) string { return u.Number }),
		timeMember("account_created_at", "", func(u landfall.UndoneAccount) time.Time { return u.CreatedAt }),
		timeMember("undone_at", "", func(u landfall.UndoneAccount) time.Time { return u.UndoneAt }),
	},
}

var failureBody = &Body[landfall.Failure]{
	name: "Failure", doc: "Why the last attempt to create an account failed.",
	members: []bodyMember[landfall.Failure]{
		timeMember("failed_at", "", func(f landfall.Failure) time.Time { return f.At }),
		boolMember("dry_run", "Whether the attempt was a dry run.", func(f landfall.Failure) bool { return f.DryRun }),
		stringMember("code", "", func(f landfall.Failure) string { return f.Code }),
		stringMember("detail", "", func(f landfall.Failure) string { return f.Detail }),
		listMember("errors", "", ViolationBody, func(f landfall.Failure) []landfall.Violation { return f.Violations }),
	},
}
