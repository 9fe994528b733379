package contract

import "landfall/internal/api/rules"

// accountTable declares the account object of validate and stage.
var accountTable = rules.NewTable("Account", "One account as the other supplier knows it.",
	rules.Required("import_supplier", rules.NonEmpty(maxSupplier), "The import supplier's code; it must be granted to the caller."),
	rules.Required("external_account_number", externalNumberText, "The account's number in the other supplier's system."),
	rules.Required("customers", rules.List(0, maxCustomers, rules.Object(customerTable)), "The people or businesses of the account; empty only for an unknown occupier."),
	rules.Optional("unknown_occupier", rules.Boolean(), "Nobody known lives there yet."),
	rules.Optional("account_type", rules.Choice("DOMESTIC", "BUSINESS"), "Whose account it is; DOMESTIC when left out."),
	rules.Optional("business_type", codeText, "The kind of business; business accounts only."),
	rules.Optional("company_number", rules.Line(100), "The company's registration number; business accounts only."),
	rules.Optional("currency", currencyText, "ISO 4217 code; the import supplier's currency when left out."),
	rules.Optional("billing_name", rules.Text(510), "The name on the bill."),
	rules.Optional("billing_sub_name", rules.Text(256), "A second line under the name on the bill."),
	rules.Optional("billing_attention_of", rules.Text(256), "Whose attention the bill is for."),
	rules.Optional("billing_customer_reference", rules.Line(256), "The customer's own reference, printed on the bill."),
	rules.Optional("billing_email", optionalEmailText, "Where bills are sent by e-mail."),
	rules.Optional("billing_address1", addressLine, "First line of the billing address, free style."),
	rules.Optional("billing_address2", addressLine, "Second line of the billing address."),
	rules.Optional("billing_address3", addressLine, "Third line of the billing address."),
	rules.Optional("billing_address4", addressLine, "Fourth line of the billing address."),
	rules.Optional("billing_address5", addressLine, "Fifth line of the billing address."),
	rules.Optional("billing_postcode", rules.Line(16), "Postcode of the billing address, free style."),
	rules.Optional("billing_address", rules.Object(addressTable), "The billing address, structured; instead of the five lines and the postcode."),
	rules.Optional("communication_preference", rules.Choice("ONLINE", "PRINT"), "How the customer is written to; ONLINE when left out."),
	rules.Optional("document_accessibility", rules.OrEmpty(rules.Choice("LARGE_PRINT", "BRAILLE", "SPOKEN")), "The form the customer's documents need."),
	rules.Optional("language_preference", languageText, "BCP 47 tag of the language the customer is written to in."),
	rules.Optional("sales_channel", rules.Text(64), "Where the account was sold."),
	rules.Optional("sales_subchannel", rules.Text(255), "Where within the sales channel."),
	rules.Optional("date_of_sale", rules.Date(), "When the account was sold; not in the future."),
	rules.Optional("last_billed_to_date", rules.Date(), "The last day the old supplier billed, inclusive; at most 366 days ahead."),
	rules.Optional("last_statement_closing_date", rules.Date(), "The last day of the last closed statement; not in the future."),
	rules.Optional("last_statement_issue_date", rules.Date(), "When the last statement was issued."),
	rules.Optional("next_bill_due_date", rules.Date(), "When the next bill is due."),
	rules.Optional("last_statement_balance", rules.Amount(), "Balance of the last closed statement; credit positive, debit negative."),
	rules.Optional("transfer_balance", rules.Amount(), "Balance on transfer; credit positive, debit negative."),
	rules.Optional("account_billing_options", rules.Object(billingOptionsTable), "How often the account is billed."),
	rules.Optional("supply_addresses", rules.List(0, maxSupplyAddresses, rules.Object(supplyAddressTable)), "The places that are supplied."),
	rules.Optional("historical_statement_transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "Transactions the old supplier has billed; they form one closed opening statement."),
	rules.Optional("current_statement_transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "Transactions that go onto the open statement."),
	rules.Optional("statements", rules.List(0, maxStatements, rules.Object(statementTable)), "Bills the old supplier issued, kept for reference."),
	rules.Optional("notes", rules.List(0, maxNotes, rules.Object(noteTable)), "Remarks for support to read."),
	rules.Optional("payment_instructions", rules.List(0, maxInstructions, rules.Object(inlineInstructionTable)), "Payment instructions at a vendor, verified before the account is created."),
	rules.Optional("payment_schedules", rules.List(0, maxPaymentSchedules, rules.Object(paymentScheduleTable)), "When money is collected."),
	rules.Optional("references", rules.List(0, maxReferences, rules.Object(referenceTable)), "Second account numbers and the like."),
	rules.Optional("consents", rules.List(0, maxConsents, rules.Object(consentTable)), "What the account holder agreed to."),
	rules.Optional("metadata", metadataList, "Anything else worth keeping, untouched."),
)

// The small objects inside an account.
var billingOptionsTable = rules.NewTable("BillingOptions", "How often an account is billed.",
	rules.Optional("period_length", rules.Choice("MONTHLY", "QUARTERLY", "ANNUAL"), "The unit of the billing period."),
	rules.Optional("period_length_multiplier", rules.Integer(1, 12), "How many units one billing period has."),
	rules.Optional("period_start_day", rules.Integer(1, 28), "Day of the month a billing period begins."),
	rules.Optional("period_start_month", rules.Integer(1, 12), "Month of the year a billing period begins."),
)

// referenceTable is for the numbers other systems know an account by.
var referenceTable = rules.NewTable("Reference", "A second number by which the account is known somewhere.",
	rules.Required("namespace", rules.NonEmpty(50), "Who knows the account by this value."),
	rules.Required("value", rules.NonEmpty(100), "The number or name itself."),
)

// A metadatum's value is walked for broken JSON and kept as it was sent.
var metadataTable = rules.NewTable("Metadatum", "One thing worth keeping that has no field of its own.",
	rules.Required("key", rules.NonEmpty(255), "What it is; once per list."),
	rules.Required("value", rules.AnyJSON(), "Any JSON value, kept untouched."),
)

// metadataList is the documented place for everything the tables do not name, so
// that nothing has to be dropped and nothing unknown has to be let in.
var metadataList = rules.List(0, maxMetadata, rules.Object(metadataTable))
