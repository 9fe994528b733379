package contract

import (
	"slices"
	"sync"
	"time"

	"landfall"
)

// FailedBody is one account whose last attempt failed, and why.
var FailedBody = &Body[landfall.FailedProcess]{
	name: "FailedProcess", doc: "An account that does not get on, and why.",
	members: []member[landfall.FailedProcess]{
		stringMember("external_account_number", "", func(f landfall.FailedProcess) string { return f.External }),
		stringMember("at", "What failed: staging the account, creating it, or a dry run.", failedStep).withSchema(enumSchema("STAGING", "PROCESS", "DRY_RUN")),
		timeMember("failed_at", "", func(f landfall.FailedProcess) time.Time { return f.Failure.At }),
		boolMember("dry_run", "Whether the attempt was a dry run.", func(f landfall.FailedProcess) bool { return f.Failure.DryRun }),
		stringMember("code", "", func(f landfall.FailedProcess) string { return f.Failure.Code }),
		stringMember("detail", "", func(f landfall.FailedProcess) string { return f.Failure.Detail }),
		listMember("errors", "", ViolationBody, withMeanings),
	},
	example: landfall.FailedProcess{External: "EXT-0002", Failure: landfall.Failure{
		At: exampleInstant, Code: landfall.CodeInstructionNotFound, Detail: "The payment vendor knows no instruction with this reference.",
		Violations: []landfall.Violation{{
			Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.0.reference",
			Detail: "The payment vendor knows no instruction with this reference.",
		}},
	}},
}

// withMeanings gives every mistake its words. A refused staging is kept without them,
// for they may repeat what was sent; what its code means in general does not.
func withMeanings(f landfall.FailedProcess) []landfall.Violation {
	violations := slices.Clone(f.Failure.Violations)
	for i := range violations {
		if violations[i].Detail == "" {
			violations[i].Detail = Meaning(violations[i].Code)
		}
	}
	return violations
}

// Meaning says what a code means in general, "" for one that nobody knows.
func Meaning(code string) string { return meanings()[code] }

// meanings are what codes mean, by code.
var meanings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, one := range Codes() {
		all[one.Code] = one.Meaning
	}
	return all
})

// failedStep names the step that failed, as it is on the wire.
func failedStep(f landfall.FailedProcess) string {
	switch {
	case f.Failure.AtStaging:
		return "STAGING"
	case f.Failure.DryRun:
		return "DRY_RUN"
	}
	return "PROCESS"
}

// FailedListBody answers the question which accounts failed.
var FailedListBody = &List[landfall.FailedProcess]{name: "FailedProcessList", items: FailedBody}

// FailureGroupBody is one group of failures that look the same.
var FailureGroupBody = &Body[landfall.FailureGroup]{
	name: "ErrorGroup", doc: "Failures that look the same.",
	members: []member[landfall.FailureGroup]{
		stringMember("code", "", func(g landfall.FailureGroup) string { return g.Code }),
		stringMember("attr", "The place, with `*` for any index; empty for a failure of the whole account.",
			func(g landfall.FailureGroup) string { return g.Attr }),
		intMember("accounts", "How many accounts have it.", func(g landfall.FailureGroup) int { return g.Accounts }),
		intMember("alone", "How many of those have no other known mistake.", func(g landfall.FailureGroup) int { return g.Alone }),
	},
	example: landfall.FailureGroup{
		Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.*.reference", Accounts: 1, Alone: 1,
	},
}

// repairBody is a short list of groups and what mending them would free.
var repairBody = &Body[landfall.Repair]{
	name: "Repair", doc: "Groups which, when all of them are mended, leave so many accounts without a known mistake.",
	members: []member[landfall.Repair]{
		intMember("percent", "At least so many of the accounts.", func(r landfall.Repair) int { return r.Percent }),
		intMember("accounts", "How many accounts it frees.", func(r landfall.Repair) int { return r.Accounts }),
		listMember("groups", "", FailureGroupBody, func(r landfall.Repair) []landfall.FailureGroup { return r.Groups }),
	},
	example: exampleRepair(50),
}

// exampleRepair is shown in the API description.
func exampleRepair(percent int) landfall.Repair {
	return landfall.Repair{Percent: percent, Accounts: 1, Groups: []landfall.FailureGroup{FailureGroupBody.example}}
}

// summaryNote is what a reader of the figures must know.
const summaryNote = "Only known mistakes are counted: payment vendors and documents are asked once the data is right."

// SummaryBody answers the question why accounts fail.
var SummaryBody = &Body[landfall.FailureSummary]{
	name: "ErrorSummary", doc: "What keeps accounts back.",
	members: []member[landfall.FailureSummary]{
		intMember("accounts", "How many accounts do not get on.", func(s landfall.FailureSummary) int { return s.Accounts }),
		listMember("groups", "The most frequent first.", FailureGroupBody, func(s landfall.FailureSummary) []landfall.FailureGroup { return s.Groups }),
		listMember("repairs", "The shortest lists of groups whose repair frees 50, 80 and 95 percent of the accounts.", repairBody,
			func(s landfall.FailureSummary) []landfall.Repair { return s.Repairs }),
		stringMember("note", "What the figures leave out.", func(landfall.FailureSummary) string { return summaryNote }),
	},
	example: landfall.FailureSummary{
		Accounts: 1, Groups: []landfall.FailureGroup{FailureGroupBody.example},
		Repairs: []landfall.Repair{exampleRepair(50), exampleRepair(80), exampleRepair(95)},
	},
}
