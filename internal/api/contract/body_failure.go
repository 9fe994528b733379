package contract

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"landfall"
)

// FailedBody is one account whose last attempt failed, and why.
var FailedBody = &Body[landfall.FailedProcess]{
	name: "FailedProcess", doc: "An account whose import failed, and why.",
	members: []bodyMember[landfall.FailedProcess]{
		stringMember("external_account_number", "", func(f landfall.FailedProcess) string { return f.External }),
		stringMember("at", "What failed: staging the account, creating it, a dry run, adding something to it, or delivering it to its target.", failedStep).
			withSchema(enumSchema("STAGING", "PROCESS", "DRY_RUN", "NOTES", "TRANSACTIONS", "STATEMENTS", "PAYMENT_INSTRUCTION", "TARGET")),
		timeMember("failed_at", "", func(f landfall.FailedProcess) time.Time { return f.Failure.At }),
		boolMember("dry_run", "Whether the attempt was a dry run.", func(f landfall.FailedProcess) bool { return f.Failure.DryRun }),
		stringMember("code", "", func(f landfall.FailedProcess) string { return f.Failure.Code }),
		stringMember("detail", "", func(f landfall.FailedProcess) string { return cmp.Or(f.Failure.Detail, Meaning(f.Failure.Code)) }),
		listMember("errors", "", ViolationBody, withMeanings),
	},
	example: landfall.FailedProcess{External: "EXT-0002", Failure: landfall.Failure{
		At: exampleInstant, Code: landfall.CodeInstructionNotFound, Detail: "The payment vendor has no instruction with this reference.",
		Violations: []landfall.Violation{{
			Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.0.reference",
			Detail: "The payment vendor has no instruction with this reference.",
		}},
	}},
}

// withMeanings fills in missing details. A refused staging is stored without
// details, because they may repeat the data; the general meaning of a code does
// not.
func withMeanings(f landfall.FailedProcess) []landfall.Violation {
	violations := slices.Clone(f.Failure.Violations)
	for i := range violations {
		if violations[i].Detail == "" {
			violations[i].Detail = Meaning(violations[i].Code)
		}
	}
	return violations
}

// Meaning returns what a code means in general, or "" for an unknown code.
func Meaning(code string) string { return meanings()[code] }

var meanings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, one := range Codes() {
		all[one.Code] = one.Meaning
	}
	return all
})

// failedStep returns the step that failed, as written on the wire.
func failedStep(f landfall.FailedProcess) string {
	switch {
	case f.Failure.Posting != "":
		return string(f.Failure.Posting)
	case f.Failure.AtStaging:
		return "STAGING"
	case f.Failure.DryRun:
		return "DRY_RUN"
	}
	return "PROCESS"
}

// FailedListBody is the list of failed accounts.
var FailedListBody = &List[landfall.FailedProcess]{name: "FailedProcessList", items: FailedBody}

// FailureGroupBody is a group of failures with the same code and path.
var FailureGroupBody = &Body[landfall.FailureGroup]{
	name: "ErrorGroup", doc: "A group of failures with the same code and location.",
	members: []bodyMember[landfall.FailureGroup]{
		stringMember("code", "", func(g landfall.FailureGroup) string { return g.Code }),
		stringMember("attr", "Path of the field, with `*` for any index. Empty if the failure concerns the whole account.",
			func(g landfall.FailureGroup) string { return g.Attr }),
		intMember("accounts", "Number of accounts with this failure.", func(g landfall.FailureGroup) int { return g.Accounts }),
		intMember("alone", "Number of those accounts that have no other known failure.", func(g landfall.FailureGroup) int { return g.Alone }),
	},
	example: landfall.FailureGroup{
		Code: landfall.CodeInstructionNotFound, Attr: "payment_instructions.*.reference", Accounts: 1, Alone: 1,
	},
}

// repairBody is a set of groups and the number of accounts that fixing them
// frees.
var repairBody = &Body[landfall.Repair]{
	name: "Repair", doc: "A set of groups and the number of accounts that have no known failure left once all of them are fixed.",
	members: []bodyMember[landfall.Repair]{
		intMember("percent", "Minimum percentage of the accounts that is freed.", func(r landfall.Repair) int { return r.Percent }),
		intMember("accounts", "Number of accounts freed.", func(r landfall.Repair) int { return r.Accounts }),
		listMember("groups", "", FailureGroupBody, func(r landfall.Repair) []landfall.FailureGroup { return r.Groups }),
	},
	example: exampleRepair(50),
}

// exampleRepair is the example in the OpenAPI document.
func exampleRepair(percent int) landfall.Repair {
	return landfall.Repair{Percent: percent, Accounts: 1, Groups: []landfall.FailureGroup{FailureGroupBody.example}}
}

// summaryNote explains what the figures do not include.
const summaryNote = "Only known failures are counted. Payment vendors and documents are checked once the data is valid."

// SummaryBody is the summary of failures.
var SummaryBody = &Body[landfall.FailureSummary]{
	name: "ErrorSummary", doc: "Why accounts fail.",
	members: []bodyMember[landfall.FailureSummary]{
		intMember("accounts", "Number of failed accounts.", func(s landfall.FailureSummary) int { return s.Accounts }),
		listMember("groups", "Most frequent first.", FailureGroupBody, func(s landfall.FailureSummary) []landfall.FailureGroup { return s.Groups }),
		listMember("repairs", "Smallest sets of groups to fix that free 50, 80 and 95 percent of the accounts.", repairBody,
			func(s landfall.FailureSummary) []landfall.Repair { return s.Repairs }),
		stringMember("note", "What the figures do not include.", func(landfall.FailureSummary) string { return summaryNote }),
	},
	example: landfall.FailureSummary{
		Accounts: 1, Groups: []landfall.FailureGroup{FailureGroupBody.example},
		Repairs: []landfall.Repair{exampleRepair(50), exampleRepair(80), exampleRepair(95)},
	},
}
