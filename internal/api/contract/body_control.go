package contract

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/lib/money"
)

// ControlTotalsBody is the control totals of a supplier.
var ControlTotalsBody = &Body[landfall.ControlTotals]{
	name: "KeptControlTotals", doc: "Control totals from the source system, with who set them and when. Totals that were not set are left out.",
	members: append(claimedMembers(),
		listMember("currencies", "", currencyTotalsBody, claimsByCurrency),
		timeMember("set_at", "", func(c landfall.ControlTotals) time.Time { return c.SetAt }),
		stringMember("set_by", "Organisation whose API key was used.", func(c landfall.ControlTotals) string { return c.By.Organisation }),
	),
	example: exampleTotals(),
}

// exampleTotals returns the control totals of the example request.
func exampleTotals() landfall.ControlTotals {
	totals, err := ReadControlTotals(context.Background(), []byte(ExampleControlTotals))
	if err != nil {
		panic(err)
	}
	totals.SetAt, totals.By.Organisation = exampleInstant, "Demo"
	return totals
}

// claimedMembers declares a member for every count. A count that was not set is
// left out, because 0 is a claim.
func claimedMembers() (members []bodyMember[landfall.ControlTotals]) {
	for _, kind := range claimedKinds {
		claim := func(c landfall.ControlTotals) *money.Total { return c.Claims[landfall.Measure{Kind: kind}].Count }
		members = append(members, intMember(string(kind), "", func(c landfall.ControlTotals) int { return int(claim(c).Count()) }).
			onlyIf(func(c landfall.ControlTotals) bool { return claim(c) != nil }))
	}
	return members
}

type currencyClaims struct {
	currency string
	claims   map[landfall.Measure]landfall.Value
}

// claimsByCurrency groups claims by currency, sorted, so that equal claims are
// written alike.
func claimsByCurrency(c landfall.ControlTotals) (found []currencyClaims) {
	currencies := map[string]bool{}
	for measure := range c.Claims {
		if measure.Currency != "" {
			currencies[measure.Currency] = true
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		found = append(found, currencyClaims{currency, c.Claims})
	}
	return found
}

// balances returns the sum of balances, or nil if it was not claimed.
func (c currencyClaims) balances() *money.Total {
	return c.claims[landfall.Measure{Kind: landfall.MeasureBalances, Currency: c.currency}].Amount
}

// transactions returns the claims of each type, in the order of the contract.
func (c currencyClaims) transactions() (found []landfall.ReconciliationRow) {
	for _, kind := range landfall.TransactionTypes {
		measure := landfall.Measure{Kind: landfall.MeasureTransactions, Currency: c.currency, Type: kind}
		if value, said := c.claims[measure]; said {
			found = append(found, landfall.ReconciliationRow{Measure: measure, Claimed: value})
		}
	}
	return found
}

var currencyTotalsBody = &Body[currencyClaims]{
	name: "KeptCurrencyTotals", doc: "Control totals in one currency.",
	members: []bodyMember[currencyClaims]{
		stringMember("currency", "", func(c currencyClaims) string { return c.currency }),
		stringMember("balances", "", func(c currencyClaims) string { return c.balances().String() }).
			onlyIf(func(c currencyClaims) bool { return c.balances() != nil }),
		listMember("transactions", "", transactionTotalsBody, currencyClaims.transactions),
	},
	example: claimsByCurrency(exampleTotals())[0],
}

var transactionTotalsBody = &Body[landfall.ReconciliationRow]{
	name: "KeptTransactionTotals", doc: "Control totals for one type of transaction.",
	members: append([]bodyMember[landfall.ReconciliationRow]{
		stringMember("type", "", func(r landfall.ReconciliationRow) string { return string(r.Measure.Type) }),
	}, valueMembers(func(r landfall.ReconciliationRow) landfall.Value { return r.Claimed })...),
	example: claimsByCurrency(exampleTotals())[0].transactions()[0],
}

// valueMembers writes a value: a count, an amount or both.
func valueMembers[T any](get func(T) landfall.Value) []bodyMember[T] {
	return []bodyMember[T]{
		bodyMember[T]{name: "count", schema: integerSchema, write: func(dst []byte, of T) []byte {
			return strconv.AppendInt(dst, get(of).Count.Count(), 10)
		}}.onlyIf(func(of T) bool { return get(of).Count != nil }),
		stringMember("amount", "Money with two decimals, or three if it has them.", func(of T) string { return get(of).Amount.String() }).
			onlyIf(func(of T) bool { return get(of).Amount != nil }),
	}
}

// ControlTotalsHistoryBody is a list of control totals.
var ControlTotalsHistoryBody = &List[landfall.ControlTotals]{name: "ControlTotalsHistory", items: ControlTotalsBody}

// TotalsOrHistory is the response of the control totals endpoint: the latest
// totals, or with history all of them.
var TotalsOrHistory Answer = totalsOrHistory{}

type totalsOrHistory struct{}

// Name returns the schema name.
func (totalsOrHistory) Name() string { return "ControlTotalsOrHistory" }

// Example returns the latest totals.
func (totalsOrHistory) Example() json.RawMessage { return ControlTotalsBody.Example() }

// Schema says that it is one of the two.
func (totalsOrHistory) Schema() map[string]any {
	return map[string]any{"oneOf": []any{schemaRef(ControlTotalsBody.name), schemaRef(ControlTotalsHistoryBody.name)}}
}
