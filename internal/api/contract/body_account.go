package contract

import (
	"strconv"
	"time"

	"landfall"
)

// Echo is a response that repeats the request.
type Echo struct {
	Body            []byte
	IncludeAdded    bool // the caller asked for the number of new items
	Added           int
	IncludeWarnings bool // the caller asked for warnings
	Warnings        []landfall.Violation
}

// appendEcho writes the request body again, with added and warnings if
// requested. An accepted body is not empty and cannot have members of those
// names.
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

var violationList = List[landfall.Violation]{items: ViolationBody}

// warningsMember declares the list of warnings, present if requested.
func warningsMember[T any](get func(T) (warnings []landfall.Violation, asked bool)) bodyMember[T] {
	return listMember("warnings", "Included if requested with `include_warnings`.", ViolationBody, func(value T) []landfall.Violation {
		list, _ := get(value)
		return list
	}).onlyIf(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// addedMember declares the number of new items, present if requested. Without
// it, a response that repeats the request does not distinguish a repeat from the
// first time.
func addedMember[T any](get func(T) (count int, asked bool)) bodyMember[T] {
	return intMember("added", "Number of items that were new. Included if requested with `include_added`.", func(value T) int {
		count, _ := get(value)
		return count
	}).onlyIf(func(value T) bool {
		_, asked := get(value)
		return asked
	})
}

// echoedMember declares a member that is repeated as sent.
func echoedMember(name string, schema map[string]any) bodyMember[Echo] {
	return bodyMember[Echo]{name: name, schema: schema}
}

func echoAdded(echo Echo) (int, bool) { return echo.Added, echo.IncludeAdded }

func echoWarnings(echo Echo) ([]landfall.Violation, bool) { return echo.Warnings, echo.IncludeWarnings }

// ValidatedBody is the response to a validation.
var ValidatedBody = &Body[Echo]{
	name: "ValidatedAccount", doc: "The account as sent, with warnings if requested.", open: true,
	members: []bodyMember[Echo]{
		echoedMember("import_supplier", stringSchema), echoedMember("external_account_number", stringSchema),
		echoedMember("customers", arraySchema(anyObjectSchema)).onlyIf(func(Echo) bool { return false }),
		warningsMember(echoWarnings),
	},
	write:   appendEcho,
	example: Echo{Body: []byte(ExampleAccount)},
}

// Staged is the result of staging an account.
type Staged struct {
	Key             landfall.Key
	IncludeWarnings bool
	Warnings        []landfall.Violation
}

// StagedBody is the response to staging an account.
var StagedBody = &Body[Staged]{
	name: "StagedAccount", doc: "The staged account.",
	members: []bodyMember[Staged]{
		stringMember("import_supplier", "", func(s Staged) string { return s.Key.Supplier }),
		stringMember("external_account_number", "", func(s Staged) string { return s.Key.External }),
		warningsMember(func(s Staged) ([]landfall.Violation, bool) { return s.Warnings, s.IncludeWarnings }),
	},
	example: Staged{Key: landfall.Key{Supplier: exampleSupplier, External: exampleExternal}},
}

// Created is a created account.
type Created struct {
	Number, External string
	IncludeWarnings  bool
	Warnings         []landfall.Violation // about the staged data
}

// CreatedBody is the response to creating an account.
var CreatedBody = &Body[Created]{
	name: "CreatedAccount", doc: "The created account.",
	members: []bodyMember[Created]{
		stringMember("platform_account_number", accountNumberDoc, func(c Created) string { return c.Number }),
		stringMember("external_account_number", "", func(c Created) string { return c.External }),
		warningsMember(func(c Created) ([]landfall.Violation, bool) { return c.Warnings, c.IncludeWarnings }),
	},
	example: Created{Number: exampleNumber, External: exampleExternal},
}

const accountNumberDoc = "Number of the account on the platform."

// ProcessBody is one entry of a list. Fields that a pending account does not
// have are null.
var ProcessBody = &Body[landfall.ProcessEntry]{
	name: "AccountImportProcess", doc: "The import process of one account.",
	members: []bodyMember[landfall.ProcessEntry]{
		stringMember("external_account_number", "", func(e landfall.ProcessEntry) string { return e.External }),
		nullableString("platform_account_number", "", func(e landfall.ProcessEntry) (string, bool) {
			return e.AccountNumber, e.AccountNumber != ""
		}),
		timeMember("account_created_at", "", func(e landfall.ProcessEntry) time.Time { return e.AccountCreatedAt }).
			withSchema(nullableTimeSchema),
		stringMember("balance", "With `detail`. Positive means the customer is in credit.", func(e landfall.ProcessEntry) string {
			return e.Figures.Balance.String()
		}).onlyIf(hasFigures),
		stringMember("currency", "With `detail`.", func(e landfall.ProcessEntry) string { return e.Figures.Currency }).onlyIf(hasFigures),
		intMember("ledger_entries", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.LedgerEntries }).onlyIf(hasFigures),
		intMember("notes", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Notes }).onlyIf(hasFigures),
		intMember("statements", "With `detail`.", func(e landfall.ProcessEntry) int { return e.Figures.Statements }).onlyIf(hasFigures),
		stringMember("delivery", "With `detail`: how far the delivery of the account to the supplier's target is.",
			func(e landfall.ProcessEntry) string { return DeliveryState(e.Delivery) }).withSchema(enumSchema(deliveryStates...)).onlyIf(hasFigures),
	},
}

// hasFigures reports whether figures were requested and exist.
func hasFigures(entry landfall.ProcessEntry) bool { return entry.Figures != nil }

// The three lists differ only in their examples.
var (
	exampleImported = landfall.ProcessEntry{External: exampleExternal, AccountNumber: exampleNumber, AccountCreatedAt: exampleInstant}
	examplePending  = landfall.ProcessEntry{External: "EXT-0002"}

	AllBody      = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{exampleImported, examplePending}}
	PendingBody  = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{examplePending}}
	ImportedBody = &List[landfall.ProcessEntry]{processListName, ProcessBody, []landfall.ProcessEntry{exampleImported}}
)

const processListName = "AccountImportProcessList"
