package contract

import (
	"strconv"
	"time"

	"landfall"
)

// Echo is an answer that repeats what was sent.
type Echo struct {
	Body            []byte
	IncludeAdded    bool // the caller asked how much of it was new
	Added           int
	IncludeWarnings bool // the caller asked for warnings
	Warnings        []landfall.Violation
}

// appendEcho writes an object again as it was sent, with what was asked for
// besides as further members. What was accepted cannot have members of those
// names, nor be empty.
func appendEcho(dst []byte, echo Echo) []byte {
	if !echo.IncludeWarnings && !echo.IncludeAdded {
		return append(dst, echo.Body...)
	}
	end := len(echo.Body) - 1
	for echo.Body[end] != '}' {
		end--
	}
	dst = append(dst, echo.Body[:end]...)
	if echo.IncludeAdded {
		dst = strconv.AppendInt(append(dst, `,"added":`...), int64(echo.Added), 10)
	}
	if echo.IncludeWarnings {
		dst = violationList.Append(append(dst, `,"warnings":`...), echo.Warnings)
	}
	return append(dst, '}')
}

// violationList writes lists of them wherever they stand.
var violationList = List[landfall.Violation]{items: ViolationBody}

// warningsMember declares the list of warnings, which is there when it was asked for.
func warningsMember[T any](get func(T) (warnings []landfall.Violation, asked bool)) member[T] {
	return listMember("warnings", "When asked for with `include_warnings`.", ViolationBody, func(value T) []landfall.Violation {
		list, _ := get(value)
		return list
	}).onlyIf(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// addedMember declares how much of a posting was new, which is there when it was asked
// for: an answer that only repeats what was sent does not tell a repeat from the
// first time.
func addedMember[T any](get func(T) (count int, asked bool)) member[T] {
	return intMember("added", "When asked for with `include_added`: how many of those sent were new.", func(value T) int {
		count, _ := get(value)
		return count
	}).onlyIf(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// echoedMember declares a member that is repeated as it was sent.
func echoedMember(name string, schema map[string]any) member[Echo] {
	return member[Echo]{name: name, schema: schema}
}

func echoAdded(echo Echo) (int, bool) { return echo.Added, echo.IncludeAdded }

func echoWarnings(echo Echo) ([]landfall.Violation, bool) { return echo.Warnings, echo.IncludeWarnings }

// ValidatedBody answers a validation.
var ValidatedBody = &Body[Echo]{
	name: "ValidatedAccount", doc: "The account as it was sent, with a list of warnings when they were asked for.", open: true,
	members: []member[Echo]{
		echoedMember("import_supplier", stringSchema), echoedMember("external_account_number", stringSchema),
		echoedMember("customers", arraySchema(anyObjectSchema)).onlyIf(func(Echo) bool { return false }),
		warningsMember(echoWarnings),
	},
	write:   appendEcho,
	example: Echo{Body: []byte(ExampleAccount)},
}

// Staged is what became of a staging.
type Staged struct {
	Key             landfall.Key
	IncludeWarnings bool
	Warnings        []landfall.Violation
}

// StagedBody answers a staging.
var StagedBody = &Body[Staged]{
	name: "StagedAccount", doc: "What was staged.",
	members: []member[Staged]{
		stringMember("import_supplier", "", func(s Staged) string { return s.Key.Supplier }),
		stringMember("external_account_number", "", func(s Staged) string { return s.Key.External }),
		warningsMember(func(s Staged) ([]landfall.Violation, bool) { return s.Warnings, s.IncludeWarnings }),
	},
	example: Staged{Key: landfall.Key{Supplier: exampleSupplier, External: exampleExternal}},
}

// Created is an account that was created.
type Created struct {
	Number, External string
	IncludeWarnings  bool
	Warnings         []landfall.Violation // about the staged data
}

// CreatedBody answers a creation.
var CreatedBody = &Body[Created]{
	name: "CreatedAccount", doc: "A created account.",
	members: []member[Created]{
		stringMember("platform_account_number", accountNumberDoc, func(c Created) string { return c.Number }),
		stringMember("external_account_number", "", func(c Created) string { return c.External }),
		warningsMember(func(c Created) ([]landfall.Violation, bool) { return c.Warnings, c.IncludeWarnings }),
	},
	example: Created{Number: exampleNumber, External: exampleExternal},
}

const accountNumberDoc = "Number of the created account."

// ProcessBody is one entry of a list; what a pending one lacks is null.
var ProcessBody = &Body[landfall.ProcessEntry]{
	name: "AccountImportProcess", doc: "One account on its way.",
	members: []member[landfall.ProcessEntry]{
		stringMember("external_account_number", "", func(e landfall.ProcessEntry) string { return e.External }),
		nullableString("platform_account_number", "", func(e landfall.ProcessEntry) (string, bool) {
			return e.AccountNumber, e.AccountNumber != ""
		}),
		timeMember("account_created_at", "", func(e landfall.ProcessEntry) time.Time { return e.AccountCreatedAt }).
			withSchema(map[string]any{"type": []string{"string", "null"}, "format": "date-time"}),
		stringMember("balance", "With `detail`: positive when the customer is in credit.", func(e landfall.ProcessEntry) string {
			return e.Figures.Balance.String()
		}).onlyIf(hasFigures),
		stringMember("currency", "With `detail`.", func(e landfall.ProcessEntry) string { return e.Figures.Currency }).onlyIf(hasFigures),
		intMember("ledger_entries", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.LedgerEntries }).onlyIf(hasFigures),
		intMember("notes", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Notes }).onlyIf(hasFigures),
		intMember("statements", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Statements }).onlyIf(hasFigures),
	},
}

// hasFigures says that figures were asked for and there are some.
func hasFigures(entry landfall.ProcessEntry) bool { return entry.Figures != nil }

// The three lists differ in what they leave out alone.
var (
	exampleImported = landfall.ProcessEntry{External: exampleExternal, AccountNumber: exampleNumber, AccountCreatedAt: exampleInstant}
	examplePending  = landfall.ProcessEntry{External: "EXT-0002"}

	AllBody      = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{exampleImported, examplePending}}
	PendingBody  = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{examplePending}}
	ImportedBody = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{exampleImported}}
)

const processListName = "AccountImportProcessList"
