package contract

import (
	"context"
	"fmt"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// maxClaim is the most that may be claimed of anything that is counted.
const maxClaim = 1_000_000_000_000

// maxCurrencies is as many as there are, and a few to come.
const maxCurrencies = 300

var claimedCount = rules.Integer(0, maxClaim)

var controlTotalsTable = rules.NewTable("ControlTotals", "What the source says it has. Say what you know: every field is optional, and what is left out is not compared.",
	rules.Optional("accounts", claimedCount, "How many accounts."),
	rules.Optional("customers", claimedCount, "How many customers, each counted on every account."),
	rules.Optional("supply_points", claimedCount, "How many supply points."),
	rules.Optional("notes", claimedCount, "How many notes."),
	rules.Optional("statements", claimedCount, "How many historical statements."),
	rules.Optional("payment_instructions", claimedCount, "How many payment instructions."),
	rules.Optional("currencies", rules.List(0, maxCurrencies, rules.Object(currencyTotalsTable)), "What has money in it, for each currency once."),
)

var currencyTotalsTable = rules.NewTable("CurrencyTotals", "What the source says it has in one currency.",
	rules.Required("currency", currencyText, "ISO 4217 code."),
	rules.Optional("balances", rules.Amount(), "The sum of all accounts' balances; positive when the customers are in credit."),
	rules.Optional("transactions", rules.List(0, len(landfall.TransactionTypes), rules.Object(transactionTotalsTable)), "The transactions, for each type once."),
)

var transactionTotalsTable = rules.NewTable("TransactionTotals", "What the source says it has of one type of transaction.",
	rules.Required("type", rules.Choice("CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"), "The kind of transaction."),
	rules.Optional("count", claimedCount, "How many."),
	rules.Optional("amount", rules.Amount(), "The sum of their amounts, as they are sent: a charge of 10.00 counts 10.00."),
)

// claimedKinds are the fields that are measures of their own.
var claimedKinds = []landfall.MeasureKind{
	landfall.MeasureAccounts, landfall.MeasureCustomers, landfall.MeasureSupplyPoints,
	landfall.MeasureNotes, landfall.MeasureStatements, landfall.MeasureInstructions,
}

// ReadControlTotals reads what a source says it has. Its error is a
// *landfall.Error with every violation.
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
			value := landfall.Value{Count: countOf(of.Field("count")), Amount: totalOf(of.Field("amount"))}
			// A type that is only named is no claim that there is none of it.
			if value.Known() {
				totals.Claims[landfall.Measure{
					Kind: landfall.MeasureTransactions, Currency: name, Type: landfall.TransactionType(kind),
				}] = value
			}
		}
	}
	// Told alone and first: two names that could not be read look like one that was
	// said twice.
	if err := shapeError(document); err != nil {
		return totals, err
	}
	if len(twice) > 0 {
		return totals, &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeValidationFailed, Detail: detailRequest, Violations: twice}
	}
	return totals, nil
}

// duplicateClaim refuses a second claim about the same: which of the two holds is
// not ours to guess.
func duplicateClaim(attr string) landfall.Violation {
	return landfall.Violation{Code: rules.CodeInvalidChoice, Attr: attr, Detail: "An earlier item is about the same. Say it once."}
}

// countOf reads a count, nil when none was claimed: 0 is a claim.
func countOf(node *rules.Node) *money.Total {
	if !node.Valid() {
		return nil
	}
	total := money.TotalOf(node.Int())
	return &total
}

// totalOf reads an amount, nil when none was claimed.
func totalOf(node *rules.Node) *money.Total {
	if !node.Valid() {
		return nil
	}
	total := money.TotalOf(int64(node.Amount()))
	return &total
}
