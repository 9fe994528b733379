package contract

import (
	"encoding/json"
	"slices"

	"landfall/internal/api/rules"
)

// requestTables are the request bodies of all endpoints.
var requestTables = []*rules.Table{
	accountTable, processTable, notesTable, transactionsTable, statementsTable, instructionTable, runTable,
	controlTotalsTable, confirmationTable, refusalTable,
}

// Answer is a declared response body.
type Answer interface {
	Name() string
	Schema() map[string]any
	Example() json.RawMessage
}

// answerBodies are the response bodies and their parts.
var answerBodies = []Answer{
	ErrorBody, ViolationBody, TransactionErrorBody, ValidatedBody, StagedBody, CreatedBody, StatusBody, failureBody, undoneBody, AllBody, ProcessBody,
	NotesBody, NoteBody, TransactionsBody, TransactionBody, StatementsBody, InstructionBody,
	FailedListBody, FailedBody, DuplicateListBody, DuplicateBody, SummaryBody, repairBody, FailureGroupBody, RuleBookBody, ruleBody, codeBody, HealthBody,
	FeedBody, EventBody, WholeAccountBody, openPeriodBody, LedgerEntryBody, WholeNoteBody, WholeStatementBody, WholeInstructionBody, EventTypesBody, eventTypeBody, RunBody, RunsBody, DeliveryBody,
	TotalsOrHistory, ControlTotalsHistoryBody, ControlTotalsBody, currencyTotalsBody, transactionTotalsBody, SignOffsBody, signOffBody,
	ReconciliationOrBehind, ReconciliationBody, reconciliationRowBody, explainedBody, valueBody, BehindListBody, BehindBody,
}

// Schemas describes all request and response bodies and the objects inside them
// as JSON Schema by name, for the components of an OpenAPI 3.1 document.
func Schemas() map[string]any { return plainSchema.Schemas() }

// Schemas is like the function Schemas, with the fields of packs.
func (s *Schema) Schemas() map[string]any {
	schemas := rules.NumberSchemas()
	schemas["Severity"] = severitySchema
	for _, body := range answerBodies {
		schemas[body.Name()] = body.Schema()
	}
	// The tables with packs come last and replace those without.
	for _, table := range append(slices.Clone(requestTables), s.account, s.transactions) {
		for _, each := range reachable(table) {
			schemas[each.Name] = each.Schema(func(nested *rules.Table) string {
				return "#/components/schemas/" + nested.Name
			})
		}
	}
	return schemas
}

// reachable returns a table and all tables below it, each once, outermost first.
func reachable(table *rules.Table) []*rules.Table {
	found := []*rules.Table{table}
	table.Walk(func(_ string, field rules.Field) {
		typ := &field.Type
		for typ.Shape == rules.ShapeList {
			typ = typ.Item
		}
		if typ.Or != nil {
			typ = typ.Or
		}
		if typ.Shape == rules.ShapeObject && !slices.Contains(found, typ.Table) {
			found = append(found, typ.Table)
		}
	})
	return found
}
