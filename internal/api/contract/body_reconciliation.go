package contract

import (
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// ReconciliationBody is the reconciliation of a supplier.
var ReconciliationBody = &Body[landfall.Reconciliation]{
	name: "Reconciliation", doc: "Compares what the source system claims with what was sent and what exists, at one point in time.",
	members: []bodyMember[landfall.Reconciliation]{
		stringMember("import_supplier", "", func(r landfall.Reconciliation) string { return r.Supplier }),
		timeMember("as_of", "Point in time of all figures.", func(r landfall.Reconciliation) time.Time { return r.At }),
		timeMember("control_totals_set_at", "When the control totals were set; null if there are none.", func(r landfall.Reconciliation) time.Time {
			if r.Totals == nil {
				return time.Time{}
			}
			return r.Totals.SetAt
		}).withSchema(nullableTimeSchema),
		listMember("measures", "", reconciliationRowBody, func(r landfall.Reconciliation) []landfall.ReconciliationRow { return r.Rows }),
	},
	example: exampleReconciliation(),
}

// exampleReconciliation has one account with everything the examples add, and
// one that failed.
func exampleReconciliation() landfall.Reconciliation {
	tallies, totals := landfall.Tallies{At: exampleInstant}, exampleTotals()
	created := landfall.Figures{Accounts: 1, Customers: 1, Notes: 1, Statements: 1, Instructions: 1, Balance: 52_500}
	created.CountTransaction(landfall.Payment, 52_500)
	tallies.Of(landfall.StatusCreated, "GBP").Add(created)
	tallies.Of(landfall.StatusFailed, "GBP").Add(landfall.Figures{Accounts: 1, Customers: 1, Instructions: 1})
	return landfall.Reconcile(exampleSupplier, &tallies, &totals)
}

// reconciliationRowBody compares one measure.
var reconciliationRowBody = &Body[landfall.ReconciliationRow]{
	name: "ReconciliationMeasure",
	doc:  "One measure. It has a count, an amount or both. The amount of a balance comes with the number of accounts.",
	members: []bodyMember[landfall.ReconciliationRow]{
		stringMember("measure", "Name of the measure, as used by the `measure` parameter, such as `accounts`, `balances.GBP` or `transactions.GBP.PAYMENT`.",
			func(r landfall.ReconciliationRow) string { return r.Measure.String() }),
		valueMember("claimed", "Control total of the source system. If it was not set, it is left out here, in `difference` and in `unexplained`.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Claimed }),
		valueMember("staged", "What was sent: staged, or added to accounts later.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Staged }),
		valueMember("created", "What exists, according to the ledgers and other records of the accounts.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Created }),
		valueMember("delivered", "What the target of the supplier has received. Only if it has received something.", func(r landfall.ReconciliationRow) landfall.Value {
			return *r.Delivered
		}).onlyIf(func(r landfall.ReconciliationRow) bool { return r.Delivered != nil }),
		valueMember("difference", "`claimed` minus `created`.", landfall.ReconciliationRow.Difference),
		{
			name: "explained", doc: "Part of the difference that is caused by known accounts.", schema: schemaRef(explainedBody.name),
			write: explainedBody.Append,
		},
		valueMember("unexplained", "The rest of the difference.", landfall.ReconciliationRow.Unexplained),
	},
	example: exampleReconciliation().Rows[0],
}

// explainedBody explains a difference by reason.
var explainedBody = &Body[landfall.ReconciliationRow]{
	name: "Explained", doc: "Part of a difference that is caused by known accounts.",
	members: []bodyMember[landfall.ReconciliationRow]{
		reasonMember(landfall.ReasonPending, "Accounts that are staged and not yet processed."),
		reasonMember(landfall.ReasonFailed, "Accounts whose last attempt failed, or that were never successfully staged."),
		reasonMember(landfall.ReasonSkipped, "Accounts marked as skipped by the operator."),
		reasonMember(landfall.ReasonMovedDates, "Notes that the service added itself, about transactions whose dates it moved. They were not sent, so they are negative."),
		reasonMember(landfall.ReasonOtherFigures, "For accounts that exist: what was sent but is not on the account, minus what is on the account but was not sent."),
	},
	example: exampleReconciliation().Rows[0],
}

// reasonMember declares the member of one reason.
func reasonMember(reason landfall.Reason, doc string) bodyMember[landfall.ReconciliationRow] {
	return valueMember(string(reason), doc, func(r landfall.ReconciliationRow) landfall.Value { return r.Explained[reason] })
}

var valueBody = &Body[landfall.Value]{
	name: "MeasuredValue", doc: "Value of a measure: a count, an amount of money, or both.",
	members: valueMembers(func(v landfall.Value) landfall.Value { return v }),
	example: exampleReconciliation().Rows[0].Created,
}

func valueMember(name, doc string, get func(landfall.ReconciliationRow) landfall.Value) bodyMember[landfall.ReconciliationRow] {
	return bodyMember[landfall.ReconciliationRow]{
		name: name, doc: doc, schema: schemaRef(valueBody.name),
		write: func(dst []byte, row landfall.ReconciliationRow) []byte { return valueBody.Append(dst, get(row)) },
	}
}

// BehindBody is one account that contributes to a figure.
var BehindBody = &Body[landfall.Contribution]{
	name: "AccountBehind", doc: "An account that contributes to a figure, and its share.",
	members: append([]bodyMember[landfall.Contribution]{
		stringMember("external_account_number", "", func(b landfall.Contribution) string { return b.External }),
		nullableString("platform_account_number", "", func(b landfall.Contribution) (string, bool) { return b.AccountNumber, b.AccountNumber != "" }),
	}, valueMembers(func(b landfall.Contribution) landfall.Value { return b.Value })...),
	example: landfall.Contribution{External: "EXT-0002", Value: exampleReconciliation().Rows[0].Explained[landfall.ReasonFailed]},
}

// BehindListBody is the list of accounts that contribute to a figure.
var BehindListBody = &List[landfall.Contribution]{name: "AccountsBehind", items: BehindBody}

// ReconciliationOrBehind is the response of the reconciliation endpoint: the
// comparison or, with a measure and a reason, the list of accounts.
var ReconciliationOrBehind Answer = reconciliationOrBehind{}

type reconciliationOrBehind struct{}

// Name returns the schema name.
func (reconciliationOrBehind) Name() string { return "ReconciliationOrAccounts" }

// Example returns a comparison.
func (reconciliationOrBehind) Example() json.RawMessage { return ReconciliationBody.Example() }

// Schema says that it is one of the two.
func (reconciliationOrBehind) Schema() map[string]any {
	return map[string]any{"oneOf": []any{schemaRef(ReconciliationBody.name), schemaRef(BehindListBody.name)}}
}

// BehindRequest asks for the accounts that contribute to a figure.
type BehindRequest struct {
	ListPage
	Listed  bool // false: the whole comparison is requested
	Measure landfall.Measure
	Reason  landfall.Reason
}

// ReadBehind reads the query of a reconciliation: nothing, or a measure and a
// reason with a page.
func ReadBehind(raw string) (BehindRequest, error) {
	var request BehindRequest
	if raw == "" {
		return request, nil
	}
	query := ReadQuery(raw)
	var named bool
	if request.Measure, named = query.Measure("measure"); named {
		request.Listed = true
	}
	request.Reason, named = query.Reason("reason")
	if named != request.Listed {
		query.refuse(map[bool]string{true: "measure", false: "reason"}[named], rules.CodeRequired,
			"measure and reason must be used together. They select the figure whose accounts are listed.")
	}
	request.ListPage = ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	if (request.Limit > 0 || request.After != nil) && !request.Listed && !named {
		query.refuse("measure", rules.CodeRequired, "Paging requires measure and reason, which select the accounts of a figure.")
	}
	return request, query.Err()
}
