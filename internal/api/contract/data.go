package contract

import (
	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// Data converts the account into the nouns it is created from. The result is
// complete only if Check found no errors.
func (a *Account) Data() landfall.AccountData {
	root := a.document.Root()
	data := landfall.AccountData{
		Key:                    a.Key(),
		Currency:               root.Field("currency").Text(),
		AccountType:            accountType(root),
		BillingName:            root.Field("billing_name").Text(),
		BillingAddress:         bindAddress(root, &billingAddressNames),
		LastBilledToOn:         root.Field("last_billed_to_date").Day(),
		LastStatementClosingOn: closingDate(root).Day(),
		LastStatementIssuedOn:  root.Field("last_statement_issue_date").Day(),
		NextBillDueOn:          root.Field("next_bill_due_date").Day(),
		LastStatementBalance:   lastBalance(root),
		TransferBalance:        transferBalance(root),
		Customers:              bindList(root.Field("customers"), bindCustomer),
		SupplyAddresses:        bindList(root.Field("supply_addresses"), bindSupplyAddress),
		HistoricalTransactions: bindTransactions(transactionsOf(root, "historical_statement_transactions")),
		CurrentTransactions:    bindTransactions(transactionsOf(root, "current_statement_transactions")),
		Statements:             bindList(root.Field("statements"), bindStatement),
		Notes:                  bindList(root.Field("notes"), bindNote),
		Instructions:           bindList(root.Field("payment_instructions"), bindInstruction),
		PaymentSchedules:       bindList(root.Field("payment_schedules"), bindPaymentSchedule),
		Language:               root.Field("language_preference").Text(),
	}
	return data
}

// bindList converts the items of a list. An absent list is nil.
func bindList[T any](list *rules.Node, bind func(*rules.Node) T) []T {
	return bindNodes(list.Items(), bind)
}

func bindNodes[T any](items []*rules.Node, bind func(*rules.Node) T) []T {
	if len(items) == 0 {
		return nil
	}
	bound := make([]T, len(items))
	for i, item := range items {
		bound[i] = bind(item)
	}
	return bound
}

// accountType applies the documented default.
func accountType(root *rules.Node) string {
	if given := root.Field("account_type").Text(); given != "" {
		return given
	}
	return "DOMESTIC"
}

// amountOf distinguishes a zero amount from an absent one.
func amountOf(node *rules.Node) *money.Amount {
	if !node.Valid() {
		return nil
	}
	amount := node.Amount()
	return &amount
}

// bindCustomer keeps what support searches for; the rest stays in the document.
func bindCustomer(n *rules.Node) landfall.Customer {
	return landfall.Customer{
		GivenName:  n.Field("given_name").Text(),
		FamilyName: n.Field("family_name").Text(),
		Title:      n.Field("title").Text(),
		Email:      n.Field("email").Text(),
		Mobile:     n.Field("mobile").Text(),
		Landline:   n.Field("landline").Text(),
		BornOn:     n.Field("date_of_birth").Day(),
		Role:       n.Field("role").Text(),
		Deceased:   n.Field("deceased").Text() != "",
	}
}
