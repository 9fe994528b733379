package contract

import (
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// ReconciliationBody answers the question whether everything arrived.
var ReconciliationBody = &Body[landfall.Reconciliation]{
	name: "Reconciliation", doc: "What the source claims against what was sent and what exists, as of one moment.",
	members: []member[landfall.Reconciliation]{
		stringMember("import_supplier", "", func(r landfall.Reconciliation) string { return r.Supplier }),
		timeMember("as_of", "The moment that everything here was true.", func(r landfall.Reconciliation) time.Time { return r.At }),
		timeMember("control_totals_set_at", "When the claims were made; null when there are none.", func(r landfall.Reconciliation) time.Time {
			if r.Totals == nil {
				return time.Time{}
			}
			return r.Totals.SetAt
		}).withSchema(map[string]any{"type": []string{"string", "null"}, "format": "date-time"}),
		listMember("measures", "", reconciliationRowBody, func(r landfall.Reconciliation) []landfall.ReconciliationRow { return r.Rows }),
	},
	example: exampleReconciliation(),
}

// exampleReconciliation is that of an account which exists with all that the
// examples add to it, and of one that failed.
func exampleReconciliation() landfall.Reconciliation {
	tallies, totals := landfall.Tallies{At: exampleInstant}, exampleTotals()
	created := landfall.Figures{Accounts: 1, Customers: 1, Notes: 1, Statements: 1, Instructions: 1, Balance: 5250}
	created.CountTransaction(landfall.Payment, 5250)
	tallies.Of(landfall.StatusCreated, "GBP").Add(created)
	tallies.Of(landfall.StatusFailed, "GBP").Add(landfall.Figures{Accounts: 1, Customers: 1, Instructions: 1})
	return landfall.Reconcile(exampleSupplier, &tallies, &totals)
}

// reconciliationRowBody compares one measure.
var reconciliationRowBody = &Body[landfall.ReconciliationRow]{
	name: "ReconciliationMeasure",
	doc:  "One measure. Counts and amounts stand side by side where it has both; the amount of a balance comes with the number of its accounts.",
	members: []member[landfall.ReconciliationRow]{
		stringMember("measure", "Its name, as `measure` takes it: `accounts`, `balances.GBP`, `transactions.GBP.PAYMENT`.",
			func(r landfall.ReconciliationRow) string { return r.Measure.String() }),
		valueMember("claimed", "What the source says it has. What it did not say is left out here, in the difference and in what is unexplained.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Claimed }),
		valueMember("staged", "What was sent: staged, or added to accounts later.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Staged }),
		valueMember("created", "What exists, by the ledgers and the other rows of the accounts.",
			func(r landfall.ReconciliationRow) landfall.Value { return r.Created }),
		valueMember("difference", "`claimed` less `created`.", landfall.ReconciliationRow.Difference),
		{
			name: "explained", doc: "The part of the difference that rests on accounts one can name.", schema: schemaRef(explainedBody.name),
			write: explainedBody.Append,
		},
		valueMember("unexplained", "The rest.", landfall.ReconciliationRow.Unexplained),
	},
	example: exampleReconciliation().Rows[0],
}

// explainedBody says on which accounts a difference rests.
var explainedBody = &Body[landfall.ReconciliationRow]{
	name: "Explained", doc: "The part of a difference that rests on accounts one can name.",
	members: []member[landfall.ReconciliationRow]{
		reasonMember(landfall.ReasonPending, "Accounts that are staged and wait."),
		reasonMember(landfall.ReasonFailed, "Accounts whose last attempt failed, or that were refused and never staged."),
		reasonMember(landfall.ReasonSkipped, "Accounts that the operator marked to be skipped."),
		reasonMember(landfall.ReasonOtherFigures, "What was sent for accounts that exist and is not on them, less what is on them and was not sent."),
	},
	example: exampleReconciliation().Rows[0],
}

// reasonMember declares the member of one reason.
func reasonMember(reason landfall.Reason, doc string) member[landfall.ReconciliationRow] {
	return valueMember(string(reason), doc, func(r landfall.ReconciliationRow) landfall.Value { return r.Explained[reason] })
}

// valueBody is how much there is of a measure.
var valueBody = &Body[landfall.Value]{
	name: "MeasuredValue", doc: "How much there is of a measure: a count, an amount of money, or both.",
	members: valueMembers(func(v landfall.Value) landfall.Value { return v }),
	example: exampleReconciliation().Rows[0].Created,
}

// valueMember is a member that is a value.
func valueMember(name, doc string, get func(landfall.ReconciliationRow) landfall.Value) member[landfall.ReconciliationRow] {
	return member[landfall.ReconciliationRow]{
		name: name, doc: doc, schema: schemaRef(valueBody.name),
		write: func(dst []byte, row landfall.ReconciliationRow) []byte { return valueBody.Append(dst, get(row)) },
	}
}

// BehindBody is one account behind a figure.
var BehindBody = &Body[landfall.Contribution]{
	name: "AccountBehind", doc: "An account behind a figure, and its part in it.",
	members: append([]member[landfall.Contribution]{
		stringMember("external_account_number", "", func(b landfall.Contribution) string { return b.External }),
		nullableString("platform_account_number", "", func(b landfall.Contribution) (string, bool) { return b.AccountNumber, b.AccountNumber != "" }),
	}, valueMembers(func(b landfall.Contribution) landfall.Value { return b.Value })...),
	example: landfall.Contribution{External: "EXT-0002", Value: exampleReconciliation().Rows[0].Explained[landfall.ReasonFailed]},
}

// BehindListBody answers the question which accounts are behind a figure.
var BehindListBody = &List[landfall.Contribution]{name: "AccountsBehind", items: BehindBody}

// ReconciliationOrBehind is what the question about a reconciliation gets: the
// comparison, or with a measure and a reason the list behind one figure.
var ReconciliationOrBehind Answer = reconciliationOrBehind{}

type reconciliationOrBehind struct{}

// Name is what the API description calls it.
func (reconciliationOrBehind) Name() string { return "ReconciliationOrAccounts" }

// Example is a comparison.
func (reconciliationOrBehind) Example() json.RawMessage { return ReconciliationBody.Example() }

// Schema says that it is one of the two.
func (reconciliationOrBehind) Schema() map[string]any {
	return map[string]any{"oneOf": []any{schemaRef(ReconciliationBody.name), schemaRef(BehindListBody.name)}}
}

// BehindRequest asks for the accounts behind a figure.
type BehindRequest struct {
	ListPage
	Listed  bool // false: the whole table is
	Measure landfall.Measure
	Reason  landfall.Reason
}

// ReadBehind reads the raw query of a reconciliation: nothing, or a measure and
// a reason with a page.
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
			"measure and reason belong together: together they name the figure whose accounts are wanted.")
	}
	request.ListPage = ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	if (request.Limit > 0 || request.After != nil) && !request.Listed && !named {
		query.refuse("measure", rules.CodeRequired, "Only the accounts behind a figure come in pages: give measure and reason.")
	}
	return request, query.Err()
}
