package contract

import (
	"time"

	"landfall"
)

// FailedBody is one account whose last attempt failed, and why.
var FailedBody = &Body[landfall.FailedProcess]{
	name: "FailedProcess", doc: "An account whose last attempt failed.",
	members: []memberOf[landfall.FailedProcess]{
		says("external_account_number", "", func(f landfall.FailedProcess) string { return f.External }),
		happens("failed_at", "", func(f landfall.FailedProcess) time.Time { return f.Failure.At }),
		tells("dry_run", "Whether the attempt was a dry run.", func(f landfall.FailedProcess) bool { return f.Failure.DryRun }),
		says("code", "", func(f landfall.FailedProcess) string { return f.Failure.Code }),
		says("detail", "", func(f landfall.FailedProcess) string { return f.Failure.Detail }),
		holds("errors", "", ViolationBody, func(f landfall.FailedProcess) []landfall.Violation { return f.Failure.Violations }),
	},
	example: landfall.FailedProcess{External: "EXT-0002", Failure: landfall.Failure{
		At: exampleInstant, Code: landfall.CodeInstructionNotFound, Detail: "The vendor knows no such payment instruction.",
		Violations: []landfall.Violation{{
			Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.0.reference",
			Detail: "The vendor knows no such payment instruction.",
		}},
	}},
}

// FailedListBody answers the question which accounts failed.
var FailedListBody = &List[landfall.FailedProcess]{name: "FailedProcessList", items: FailedBody}

// FailureGroupBody is one group of failures that look the same.
var FailureGroupBody = &Body[landfall.FailureGroup]{
	name: "ErrorGroup", doc: "Failures that look the same.",
	members: []memberOf[landfall.FailureGroup]{
		says("code", "", func(g landfall.FailureGroup) string { return g.Code }),
		says("attr", "The place, with `*` for any index; empty for a failure of the whole account.",
			func(g landfall.FailureGroup) string { return g.Attr }),
		counts("accounts", "How many accounts have it.", func(g landfall.FailureGroup) int { return g.Accounts }),
		counts("alone", "How many of those have nothing else wrong.", func(g landfall.FailureGroup) int { return g.Alone }),
	},
	example: landfall.FailureGroup{
		Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.*.reference", Accounts: 1, Alone: 1,
	},
}

// SummaryBody answers the question why accounts fail.
var SummaryBody = &List[landfall.FailureGroup]{name: "ErrorGroupList", items: FailureGroupBody}
