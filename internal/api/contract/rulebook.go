package contract

import "landfall"

// Rule is a cross-field rule. Its meaning is also the message of a violation.
type Rule struct {
	Code     string
	Severity landfall.Severity // default; the operator can change it per supplier
	Where    string            // attr of the violation, with * for any index
	Meaning  string
}

// Codes of the rules.
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
	CodeDuplicateCustomers          = "duplicate_customers"
	CodeScientificNotation          = "identifier_in_scientific_notation"
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

// ruleBook lists the rules in the order of the documentation.
var ruleBook = []Rule{
	{CodeCustomersRequired, asError, "customers", "An account must have a customer unless the occupier is unknown."},
	{CodeCustomerWithUnknownOccupier, asError, "customers", "An account with an unknown occupier must not have customers."},
	{CodeFamilyNameRequired, asWarning, "customers.*.family_name", "A customer of a domestic account should have a family name."},
	{CodeDuplicateCustomers, asWarning, "customers.*", "The customer is given twice: the same user_identifier, or the same data."},
	{CodeBusinessFields, asError, "business_type, company_number", "Business fields are only allowed on business accounts."},
	{CodeCurrencyMismatch, asError, "currency", "The currency differs from the import supplier's currency."},
	{CodeBillingAddressTwice, asError, "billing_address", "Specify the billing address as lines or as an object, not both."},
	{CodeSupplyAddressTwice, asError, "supply_addresses.*.supply_address", "Specify the supply address as lines or as an object, not both."},
	{CodeInvalidPostcode, asWarning, "billing_postcode, supply_addresses.*.supply_postcode, postal_code of a GB address", "This is not a valid postcode for the region."},
	{CodeDuplicateMetadata, asError, "metadata.*.key, customers.*.metadata.*.key", "A metadata key must be unique within its list."},
	{CodeDuplicateReferences, asError, "references.*", "References must be unique."},
	{CodeDuplicateConsents, asError, "consents.*.type, customers.*.consents.*.type", "A consent type must be unique within its list."},
	{CodeDuplicateSupplyAddresses, asError, "supply_addresses.*", "Supply addresses must be unique."},
	{CodeDuplicateSupplyPoints, asError, "supply_addresses.*.supply_points.*.identifier", "Supply points must be unique by supply type and identifier."},
	{CodeScientificNotation, asWarning, "external_account_number, identifier of a supply point, serial_number of a meter, references.*.value, transaction_id, statement_id", "This looks like a number that a spreadsheet has shortened, such as 1.06257E+12. Its last digits may be lost."},
	{CodeStartAfterEnd, asError, "the start date of every period", "The start date is after the end date."},
	{CodeAgreementOverlap, asError, "supply_addresses.*.supply_points.*.agreements.*.effective_from", "Agreements of a supply point must not overlap."},
	{CodeAgreementGap, asWarning, "supply_addresses.*.supply_points.*.agreements.*.effective_from", "There is a gap between two agreements of a supply point."},
	{CodeDateInFuture, asError, "date_of_sale, last_statement_closing_date, customers.*.date_of_birth, current_statement_transactions.*.transaction_date, signed_at of a consent; last_billed_to_date if it is more than 366 days ahead", "Must not be in the future."},
	{CodeIssuedBeforeClosing, asError, "last_statement_issue_date", "The last statement was issued before its closing date."},
	{CodeHistoricalWithoutClosing, asError, "historical_statement_transactions", "Historical transactions require last_statement_closing_date or last_billed_to_date."},
	{CodeHistoricalAfterClosing, asError, "historical_statement_transactions.*.transaction_date", "A historical transaction must not be after the closing date."},
	{CodeCurrentBeforeOpening, asError, "current_statement_transactions.*.transaction_date", "A current transaction must not be before the start of the open statement period."},
	{landfall.CodeDuplicateTransactions, asError, "transaction_id of a transaction", "Transaction identifiers must be unique."},
	{CodeDuplicateStatements, asError, "statements.*.statement_id", "Statement identifiers must be unique."},
	{CodeDuplicateInstructions, asError, "payment_instructions.*.reference", "Payment instructions must be unique."},
	{CodeHistoricalBalance, asError, "last_statement_balance", "The historical transactions do not add up to the last statement balance."},
	{CodeTransferBalance, asError, "transfer_balance", "The last statement balance and the current transactions do not add up to the transfer balance."},
	{CodeBalanceWithoutClosing, asWarning, "last_statement_balance", "A non-zero last statement balance should have a last statement closing date."},
	{CodeStatementOverlap, asWarning, "statements.*.bill_period_from_date", "Statement periods should not overlap."},
	{CodeNoteEmpty, asError, "notes.*.body", "A note must have a body or a document path."},
	{CodeNoteUnpin, asError, "notes.*.unpin_at", "unpin_at must not be before created_at."},
	{CodeScheduleAmount, asError, "payment_schedules.*.amount", "A payment schedule with the trigger REGULAR requires an amount."},
	{CodeScheduleFrequency, asError, "payment_schedules.*.frequency", "A payment schedule with the trigger REGULAR requires a frequency."},
	{CodeScheduleDay, asError, "payment_schedules.*.day_of_month", "A payment schedule with the trigger REGULAR requires a day of the month, unless its frequency counts weeks."},
	{CodeScheduleThreshold, asError, "payment_schedules.*.balance_threshold", "A payment schedule with the trigger BALANCE requires a threshold."},
	{CodeScheduleOverlap, asError, "payment_schedules.*.start_date", "Payment schedules must not overlap."},
	{CodeLineItemNet, asWarning, "line_items.*.net_amount of a transaction", "price_per_unit times number_of_units does not equal the net amount."},
	{CodeTaxAmount, asWarning, "tax_items.*.amount of a transaction", "value_taxed times rate does not equal the tax amount."},
	{CodeItemsSum, asWarning, "amount of a transaction", "Line items and taxes do not add up to the amount."},
	{CodeUnits, asOff, "line_items.*.units of a transaction", "units should be an opening and a closing reading."},
	{CodePhoneNotAssigned, asOff, "any phone number", "The phone number is possible but not assigned."},
	{CodeSupplyPointElsewhere, asWarning, "supply_addresses.*.supply_points.*.identifier", "Another account has this supply point at the same time."},
	{CodeInstructionElsewhere, asWarning, "payment_instructions.*.reference, reference of a payment instruction", "Another account has this payment instruction."},
	{CodeReferenceElsewhere, asOff, "references.*.value", "Another account has this reference."},
	{CodeNumberElsewhere, asOff, "external_account_number", "Another import supplier has an account with this number."},
	{CodeTestEmail, asWarning, "any email address", "This looks like a test email address."},
}

// ruleIndex finds rules by code.
var ruleIndex = func() map[string]*Rule {
	index := make(map[string]*Rule, len(ruleBook))
	for i := range ruleBook {
		index[ruleBook[i].Code] = &ruleBook[i]
	}
	return index
}()

// RuleBook returns the rules in the order of the documentation.
func RuleBook() []Rule { return append([]Rule(nil), ruleBook...) }

// RuleCodes returns the codes of the rules.
func RuleCodes() (codes []string) {
	for _, rule := range ruleBook {
		codes = append(codes, rule.Code)
	}
	return codes
}
