package contract

import "landfall"

// Rule is one cross-field rule. Its meaning is also the sentence a caller
// reads when the rule is broken.
type Rule struct {
	Code     string
	Severity landfall.Severity // by default; the operator may override it per supplier
	Where    string            // the attr it points at, * for any item
	Meaning  string
}

// The codes of the rule book.
const (
	CodeCustomersRequired           = "customers_required"
	CodeCustomerWithUnknownOccupier = "customer_with_unknown_occupier"
	CodeFamilyNameRequired          = "customer_family_name_required"
	CodeBusinessFields              = "business_fields_provided_for_domestic_accounts"
	CodeCurrencyMismatch            = "currency_mismatch"
	CodeBillingAddressTwice         = "billing_address_given_twice"
	CodeSupplyAddressTwice          = "supply_address_given_twice"
	CodeInvalidPostcode             = "invalid_postcode"
	CodeDuplicateMetadata           = "metadata_has_duplicate_keys"
	CodeDuplicateReferences         = "duplicate_references"
	CodeDuplicateConsents           = "duplicate_consents"
	CodeDuplicateSupplyAddresses    = "duplicate_supply_addresses"
	CodeDuplicateSupplyPoints       = "duplicate_supply_points"
	CodeStartAfterEnd               = "start_date_later_than_end_date"
	CodeAgreementOverlap            = "agreement_dates_overlap"
	CodeAgreementGap                = "agreement_dates_gap"
	CodeDateInFuture                = "date_in_future"
	CodeIssuedBeforeClosing         = "last_statement_issued_before_closing_date"
	CodeHistoricalWithoutClosing    = "historical_transactions_without_closing_date"
	CodeHistoricalAfterClosing      = "historical_transaction_after_closing_date"
	CodeCurrentBeforeOpening        = "current_transaction_before_opening_date"
	CodeDuplicateStatements         = "duplicate_statement_ids"
	CodeHistoricalBalance           = "historical_balance_mismatch"
	CodeTransferBalance             = "transfer_balance_mismatch"
	CodeBalanceWithoutClosing       = "balance_without_closing_date"
	CodeDuplicateInstructions       = "duplicate_payment_instructions"
	CodeStatementOverlap            = "statement_periods_overlap"
	CodeNoteEmpty                   = "note_body_or_document_path_required"
	CodeNoteUnpin                   = "note_unpin_at_earlier_than_creation_date"
	CodeScheduleAmount              = "payment_schedule_missing_amount"
	CodeScheduleFrequency           = "payment_schedule_missing_frequency"
	CodeScheduleDay                 = "payment_schedule_missing_day_of_month"
	CodeScheduleThreshold           = "payment_schedule_missing_threshold"
	CodeScheduleOverlap             = "payment_schedules_overlap"
	CodeLineItemNet                 = "incorrect_line_item_net_amount"
	CodeTaxAmount                   = "incorrect_tax_amount"
	CodeItemsSum                    = "amount_does_not_match_items"
	CodeUnits                       = "line_item_units_not_two_readings"
	CodePhoneNotAssigned            = "phone_number_not_assigned"
	CodeTestEmail                   = "possible_test_email_address"
)

const (
	asError   = landfall.SeverityError
	asWarning = landfall.SeverityWarning
	asOff     = landfall.SeverityOff
)

// ruleBook is in the order of the documentation.
var ruleBook = []Rule{
	{CodeCustomersRequired, asError, "customers", "An account needs a customer unless the occupier is unknown."},
	{CodeCustomerWithUnknownOccupier, asError, "customers", "An account with an unknown occupier has no customers."},
	{CodeFamilyNameRequired, asWarning, "customers.*.family_name", "A customer of a domestic account should have a family name."},
	{CodeBusinessFields, asError, "business_type, company_number", "Business fields belong to business accounts only."},
	{CodeCurrencyMismatch, asError, "currency", "The currency is another than the import supplier's."},
	{CodeBillingAddressTwice, asError, "billing_address", "Give the billing address as lines or as an object, not both."},
	{CodeSupplyAddressTwice, asError, "supply_addresses.*.supply_address", "Give the supply address as lines or as an object, not both."},
	{CodeInvalidPostcode, asWarning, "billing_postcode, supply_addresses.*.supply_postcode, postal_code of a GB address", "This is not a postcode of the region."},
	{CodeDuplicateMetadata, asError, "metadata.*.key, customers.*.metadata.*.key", "A metadata key is given twice in one list."},
	{CodeDuplicateReferences, asError, "references.*", "The same reference is given twice."},
	{CodeDuplicateConsents, asError, "consents.*.type, customers.*.consents.*.type", "A consent of the same type is given twice in one list."},
	{CodeDuplicateSupplyAddresses, asError, "supply_addresses.*", "The same supply address is given twice."},
	{CodeDuplicateSupplyPoints, asError, "supply_addresses.*.supply_points.*.identifier", "The same supply point, by supply type and identifier, is given twice."},
	{CodeStartAfterEnd, asError, "the first date of every from and to pair", "A period begins after it ends."},
	{CodeAgreementOverlap, asError, "supply_addresses.*.supply_points.*.agreements.*.effective_from", "Two agreements of a supply point overlap."},
	{CodeAgreementGap, asWarning, "supply_addresses.*.supply_points.*.agreements.*.effective_from", "There are days between two agreements of a supply point."},
	{CodeDateInFuture, asError, "date_of_sale, last_statement_closing_date, customers.*.date_of_birth, current_statement_transactions.*.transaction_date, signed_at of a consent; last_billed_to_date when it is over 366 days ahead", "This cannot be in the future."},
	{CodeIssuedBeforeClosing, asError, "last_statement_issue_date", "The last statement was issued before it was closed."},
	{CodeHistoricalWithoutClosing, asError, "historical_statement_transactions", "Historical transactions need a last statement closing date or a last billed to date."},
	{CodeHistoricalAfterClosing, asError, "historical_statement_transactions.*.transaction_date", "A historical transaction is later than the last closed day."},
	{CodeCurrentBeforeOpening, asError, "current_statement_transactions.*.transaction_date", "A current transaction is earlier than the first day of the open statement period."},
	{landfall.CodeDuplicateTransactions, asError, "transaction_id of a transaction", "The same transaction identifier is given twice."},
	{CodeDuplicateStatements, asError, "statements.*.statement_id", "The same statement identifier is given twice."},
	{CodeDuplicateInstructions, asError, "payment_instructions.*.reference", "The same payment instruction is given twice."},
	{CodeHistoricalBalance, asError, "last_statement_balance", "The historical transactions do not add up to the last statement balance."},
	{CodeTransferBalance, asError, "transfer_balance", "The last statement balance and the current transactions do not add up to the transfer balance."},
	{CodeBalanceWithoutClosing, asWarning, "last_statement_balance", "A last statement balance that is not zero should have a last statement closing date."},
	{CodeStatementOverlap, asWarning, "statements.*.bill_period_from_date", "Two statements bill the same day."},
	{CodeNoteEmpty, asError, "notes.*.body", "A note needs a body or a document path."},
	{CodeNoteUnpin, asError, "notes.*.unpin_at", "A note cannot be unpinned before it was created."},
	{CodeScheduleAmount, asError, "payment_schedules.*.amount", "A regular payment schedule needs an amount."},
	{CodeScheduleFrequency, asError, "payment_schedules.*.frequency", "A regular payment schedule needs a frequency."},
	{CodeScheduleDay, asError, "payment_schedules.*.day_of_month", "A regular payment schedule needs a day of the month."},
	{CodeScheduleThreshold, asError, "payment_schedules.*.balance_threshold", "A payment schedule triggered by the balance needs a threshold."},
	{CodeScheduleOverlap, asError, "payment_schedules.*.start_date", "Two payment schedules overlap."},
	{CodeLineItemNet, asWarning, "line_items.*.net_amount of a transaction", "Price per unit times number of units is not the net amount."},
	{CodeTaxAmount, asWarning, "tax_items.*.amount of a transaction", "Value taxed times rate is not the tax."},
	{CodeItemsSum, asWarning, "amount of a transaction", "Line items and taxes do not add up to the amount."},
	{CodeUnits, asOff, "line_items.*.units of a transaction", "The units are not an opening and a closing reading."},
	{CodePhoneNotAssigned, asOff, "every phone number", "The phone number is possible but not in use."},
	{CodeTestEmail, asWarning, "every e-mail address", "This looks like an e-mail address for trying out."},
}

// ruleIndex finds rules by their code.
var ruleIndex = func() map[string]*Rule {
	index := make(map[string]*Rule, len(ruleBook))
	for i := range ruleBook {
		index[ruleBook[i].Code] = &ruleBook[i]
	}
	return index
}()

// RuleBook gives the cross-field rules in the order of the documentation.
func RuleBook() []Rule { return append([]Rule(nil), ruleBook...) }

// RuleCodes gives the codes of the rules, for whoever sets their severities.
func RuleCodes() (codes []string) {
	for _, rule := range ruleBook {
		codes = append(codes, rule.Code)
	}
	return codes
}
