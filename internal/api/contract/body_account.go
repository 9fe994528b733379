package contract

import (
	"strconv"
	"time"

	"landfall"
)

// Echo is an answer that repeats what was sent.
type Echo struct {
	Sent     []byte
	Counted  bool // the caller asked how much of it was new
	Added    int
	Warned   bool // the caller asked for warnings
	Warnings []landfall.Violation
}

// appendEcho writes an object again as it was sent, with what was asked for
// besides as further members. What was accepted cannot have members of those
// names, nor be empty.
func appendEcho(dst []byte, echo Echo) []byte {
	if !echo.Warned && !echo.Counted {
		return append(dst, echo.Sent...)
	}
	end := len(echo.Sent) - 1
	for echo.Sent[end] != '}' {
		end--
	}
	dst = append(dst, echo.Sent[:end]...)
	if echo.Counted {
		dst = strconv.AppendInt(append(dst, `,"added":`...), int64(echo.Added), 10)
	}
	if echo.Warned {
		dst = violations.Append(append(dst, `,"warnings":`...), echo.Warnings)
	}
	return append(dst, '}')
}

// violations writes lists of them wherever they stand.
var violations = List[landfall.Violation]{items: ViolationBody}

// warned declares the list of warnings, which is there when it was asked for.
func warned[T any](get func(T) (warnings []landfall.Violation, asked bool)) memberOf[T] {
	return holds("warnings", "When asked for with `include_warnings`.", ViolationBody, func(value T) []landfall.Violation {
		list, _ := get(value)
		return list
	}).when(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// added declares how much of a posting was new, which is there when it was asked
// for: an answer that only repeats what was sent does not tell a repeat from the
// first time.
func added[T any](get func(T) (count int, asked bool)) memberOf[T] {
	return counts("added", "When asked for with `include_added`: how many of those sent were new.", func(value T) int {
		count, _ := get(value)
		return count
	}).when(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// echoed declares a member that is repeated as it was sent.
func echoed(name string, schema map[string]any) memberOf[Echo] {
	return memberOf[Echo]{name: name, schema: schema}
}

func echoAdded(echo Echo) (int, bool) { return echo.Added, echo.Counted }

func echoWarnings(echo Echo) ([]landfall.Violation, bool) { return echo.Warnings, echo.Warned }

// ValidatedBody answers a validation.
var ValidatedBody = &Body[Echo]{
	name: "ValidatedAccount", doc: "The account as it was sent, with a list of warnings when they were asked for.", open: true,
	members: []memberOf[Echo]{
		echoed("import_supplier", textSchema), echoed("external_account_number", textSchema),
		echoed("customers", listOf(anyObject)).when(func(Echo) bool { return false }),
		warned(echoWarnings),
	},
	write:   appendEcho,
	example: Echo{Sent: []byte(ExampleAccount)},
}

// Staged is what became of a staging.
type Staged struct {
	Key      landfall.Key
	Warned   bool
	Warnings []landfall.Violation
}

// StagedBody answers a staging.
var StagedBody = &Body[Staged]{
	name: "StagedAccount", doc: "What was staged.",
	members: []memberOf[Staged]{
		says("import_supplier", "", func(s Staged) string { return s.Key.Supplier }),
		says("external_account_number", "", func(s Staged) string { return s.Key.External }),
		warned(func(s Staged) ([]landfall.Violation, bool) { return s.Warnings, s.Warned }),
	},
	example: Staged{Key: landfall.Key{Supplier: exampleSupplier, External: exampleExternal}},
}

// Created is an account that was created.
type Created struct {
	Number, External string
	Warned           bool
	Warnings         []landfall.Violation // about the staged data
}

// CreatedBody answers a creation.
var CreatedBody = &Body[Created]{
	name: "CreatedAccount", doc: "A created account.",
	members: []memberOf[Created]{
		says("platform_account_number", numberDoc, func(c Created) string { return c.Number }),
		says("external_account_number", "", func(c Created) string { return c.External }),
		warned(func(c Created) ([]landfall.Violation, bool) { return c.Warnings, c.Warned }),
	},
	example: Created{Number: exampleNumber, External: exampleExternal},
}

const numberDoc = "Number of the created account."

// EntryBody is one entry of a list; what a pending one lacks is null.
var EntryBody = &Body[landfall.ProcessEntry]{
	name: "AccountImportProcess", doc: "One account on its way.",
	members: []memberOf[landfall.ProcessEntry]{
		says("external_account_number", "", func(e landfall.ProcessEntry) string { return e.External }),
		saysOrNull("platform_account_number", "", func(e landfall.ProcessEntry) (string, bool) {
			return e.AccountNumber, e.AccountNumber != ""
		}),
		happens("account_created_at", "", func(e landfall.ProcessEntry) time.Time { return e.AccountCreatedAt }).
			as(map[string]any{"type": []string{"string", "null"}, "format": "date-time"}),
		says("balance", "With `detail`: positive when the customer is in credit.", func(e landfall.ProcessEntry) string {
			return e.Figures.Balance.String()
		}).when(figured),
		says("currency", "With `detail`.", func(e landfall.ProcessEntry) string { return e.Figures.Currency }).when(figured),
		counts("ledger_entries", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.LedgerEntries }).when(figured),
		counts("notes", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Notes }).when(figured),
		counts("statements", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Statements }).when(figured),
	},
}

// figured says that figures were asked for and there are some.
func figured(entry landfall.ProcessEntry) bool { return entry.Figures != nil }

// The three lists differ in what they leave out alone.
var (
	exampleImported = landfall.ProcessEntry{External: exampleExternal, AccountNumber: exampleNumber, AccountCreatedAt: exampleInstant}
	examplePending  = landfall.ProcessEntry{External: "EXT-0002"}

	AllBody      = &List[landfall.ProcessEntry]{listName, EntryBody, []landfall.ProcessEntry{exampleImported, examplePending}}
	PendingBody  = &List[landfall.ProcessEntry]{listName, EntryBody, []landfall.ProcessEntry{examplePending}}
	ImportedBody = &List[landfall.ProcessEntry]{listName, EntryBody, []landfall.ProcessEntry{exampleImported}}
)

const listName = "AccountImportProcessList"
