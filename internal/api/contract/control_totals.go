package contract

import (
	"context"
	"fmt"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// maxClaim is the largest count that may be claimed.
const maxClaim = 1_000_000_000_000

// maxCurrencies is more than there are currencies.
const maxCurrencies = 300

var claimedCount = rules.Integer(0, maxClaim)

var controlTotalsTable = rules.NewTable("ControlTotals", "Totals from the source system. Every field is optional; totals you leave out are not compared.",
	rules.Optional("accounts", claimedCount, "Number of accounts."),
	rules.Optional("customers", claimedCount, "Number of customers, counted once per account."),
	rules.Optional("supply_points", claimedCount, "Number of supply points."),
	rules.Optional("notes", claimedCount, "Number of notes."),
	rules.Optional("statements", claimedCount, "Number of historical statements."),
	rules.Optional("payment_instructions", claimedCount, "Number of payment instructions."),
	rules.Optional("currencies", rules.List(0, maxCurrencies, rules.Object(currencyTotalsTable)), "Totals in money, once per currency."),
)

var currencyTotalsTable = rules.NewTable("CurrencyTotals", "Totals from the source system in one currency.",
	rules.Required("currency", currencyText, "ISO 4217 code."),
	rules.Optional("balances", rules.Sum(), "Sum of all account balances. Positive means the customers are in credit."),
	rules.Optional("transactions", rules.List(0, len(landfall.TransactionTypes), rules.Object(transactionTotalsTable)), "Transaction totals, once per type."),
)

var transactionTotalsTable = rules.NewTable("TransactionTotals", "Totals from the source system for one type of transaction.",
	rules.Required("type", transactionTypes, "Type of transaction."),
	rules.Optional("count", claimedCount, "Number of transactions."),
	rules.Optional("amount", rules.Sum(), "Sum of the amounts as sent: a charge of 10.00 counts as 10.00."),
)

// claimedKinds are the fields that are measures of their own.
var claimedKinds = []landfall.MeasureKind{
	landfall.MeasureAccounts, landfall.MeasureCustomers, landfall.MeasureSupplyPoints,
	landfall.MeasureNotes, landfall.MeasureStatements, landfall.MeasureInstructions,
}

// ReadControlTotals reads control totals. Its error is a *landfall.Error with
// every violation.
func ReadControlTotals(ctx context.Context, body []byte) (landfall.ControlTotals, error) {
	totals := landfall.ControlTotals{Claims: map[landfall.Measure]landfall.Value{}}
	document, err := readDocument(ctx, controlTotalsTable, body)
	if err != nil {
		return totals, err
	}
	root := document.Root()
	for _, kind := range claimedKinds {
		if field := root.Field(string(kind)); field.Valid() {
			totals.Claims[landfall.Measure{Kind: kind}] = landfall.Value{Count: countOf(field)}
		}
	}
	var twice []landfall.Violation
	currencies := map[string]bool{}
	for i, in := range root.Field("currencies").Items() {
		name := in.Field("currency").Text()
		if currencies[name] {
			twice = append(twice, duplicateClaim(fmt.Sprintf("currencies.%d.currency", i)))
		}
		currencies[name] = true
		checkPlaces(document, in.Field("balances"), name)
		if balances := in.Field("balances"); balances.Valid() {
			totals.Claims[landfall.Measure{Kind: landfall.MeasureBalances, Currency: name}] = landfall.Value{Amount: totalOf(balances)}
		}
		types := map[string]bool{}
		for j, of := range in.Field("transactions").Items() {
			kind := of.Field("type").Text()
			if types[kind] {
				twice = append(twice, duplicateClaim(fmt.Sprintf("currencies.%d.transactions.%d.type", i, j)))
			}
			types[kind] = true
			checkPlaces(document, of.Field("amount"), name)
			value := landfall.Value{Count: countOf(of.Field("count")), Amount: totalOf(of.Field("amount"))}
			// Naming a type without a value does not claim that there is none of it.
			if value.Known() {
				totals.Claims[landfall.Measure{
					Kind: landfall.MeasureTransactions, Currency: name, Type: landfall.TransactionType(kind),
				}] = value
			}
		}
	}
	// Shape violations are reported alone: two unreadable names would look like
	// duplicates.
	if err := shapeError(document); err != nil {
		return totals, err
	}
	if len(twice) > 0 {
		return totals, &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeValidationFailed, Detail: detailRequest, Violations: twice}
	}
	return totals, nil
}

// checkPlaces refuses a sum with more decimals than its currency has.
func checkPlaces(document *rules.Document, sum *rules.Node, currency string) {
	if places := money.Places(currency); sum.Valid() && !sum.Sum().Fits(places) {
		document.Report().Add(sum, rules.CodeMaxDecimalPlaces, tooManyDecimals(currency))
	}
}

// duplicateClaim refuses a second claim about the same thing: it is unclear
// which one applies.
func duplicateClaim(attr string) landfall.Violation {
	return landfall.Violation{Code: rules.CodeInvalidChoice, Attr: attr, Detail: "Duplicate of an earlier item."}
}

// countOf reads a count, or returns nil if none was claimed: 0 is a claim.
func countOf(node *rules.Node) *money.Total {
	if !node.Valid() {
		return nil
	}
	total := money.TotalOf(node.Int())
	return &total
}

// totalOf reads an amount, or returns nil if none was claimed.
func totalOf(node *rules.Node) *money.Total {
	if !node.Valid() {
		return nil
	}
	total := node.Sum()
	return &total
}
