package contract

import "landfall/internal/api/rules"

// accountTable declares the account object of validate and stage.
var accountTable = rules.NewTable("Account", "An account as it exists in the source system.",
	rules.Required("import_supplier", rules.NonEmpty(maxSupplier), "Code of the import supplier. It must be granted to your organisation."),
	rules.Required("external_account_number", externalNumberText, externalNumberDoc),
	rules.Required("customers", rules.List(0, maxCustomers, rules.Object(customerTable)), "The people or businesses on the account. May be empty only if `unknown_occupier` is true."),
	rules.Optional("unknown_occupier", rules.Boolean(), "True if nobody is known to live at the property yet."),
	rules.Optional("account_type", rules.Choice("DOMESTIC", "BUSINESS"), "Type of account. Defaults to DOMESTIC."),
	rules.Optional("business_type", codeText, "Type of business. Business accounts only."),
	rules.Optional("company_number", rules.Line(100), "Company registration number. Business accounts only."),
	rules.Optional("currency", currencyText, "ISO 4217 code. Defaults to the currency of the import supplier."),
	rules.Optional("billing_name", rules.Text(510), "Name shown on bills."),
	rules.Optional("billing_sub_name", rules.Text(256), "Second line below the billing name."),
	rules.Optional("billing_attention_of", rules.Text(256), "Person or department the bill is addressed to."),
	rules.Optional("billing_customer_reference", rules.Line(256), "The customer's own reference, printed on bills."),
	rules.Optional("billing_email", optionalEmailText, "Email address bills are sent to."),
	rules.Optional("billing_address1", addressLine, "Line 1 of the billing address (free form)."),
	rules.Optional("billing_address2", addressLine, "Line 2 of the billing address."),
	rules.Optional("billing_address3", addressLine, "Line 3 of the billing address."),
	rules.Optional("billing_address4", addressLine, "Line 4 of the billing address."),
	rules.Optional("billing_address5", addressLine, "Line 5 of the billing address."),
	rules.Optional("billing_postcode", rules.Line(16), "Postcode of the billing address (free form)."),
	rules.Optional("billing_address", rules.Object(addressTable), "Structured billing address. Use it instead of the five lines and the postcode."),
	rules.Optional("communication_preference", rules.Choice("ONLINE", "PRINT"), "How the customer receives documents. Defaults to ONLINE."),
	rules.Optional("document_accessibility", rules.OrEmpty(rules.Choice("LARGE_PRINT", "BRAILLE", "SPOKEN")), "Accessible format the customer needs for documents."),
	rules.Optional("language_preference", languageText, "Preferred language of the customer, as a BCP 47 tag."),
	rules.Optional("sales_channel", rules.Text(64), "Channel through which the account was sold."),
	rules.Optional("sales_subchannel", rules.Text(255), "Subdivision of the sales channel."),
	rules.Optional("date_of_sale", rules.Date(), "Date of the sale. Must not be in the future."),
	rules.Optional("last_billed_to_date", rules.Date(), "Last day billed by the previous supplier, inclusive. At most 366 days in the future."),
	rules.Optional("last_statement_closing_date", rules.Date(), "Last day of the most recent closed statement. Must not be in the future."),
	rules.Optional("last_statement_issue_date", rules.Date(), "Date the most recent statement was issued."),
	rules.Optional("next_bill_due_date", rules.Date(), "Date the next bill is due."),
	rules.Optional("last_statement_balance", rules.Amount(), "Balance of the most recent closed statement. Positive means credit, negative means debit."),
	rules.Optional("transfer_balance", rules.Amount(), "Balance at the time of transfer. Positive means credit, negative means debit."),
	rules.Optional("account_billing_options", rules.Object(billingOptionsTable), "Billing frequency."),
	rules.Optional("supply_addresses", rules.List(0, maxSupplyAddresses, rules.Object(supplyAddressTable)), "The supplied properties."),
	rules.Optional("historical_statement_transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "Transactions already billed by the previous supplier. They form one closed opening statement."),
	rules.Optional("current_statement_transactions", rules.List(0, maxTransactions, rules.Object(transactionTable)), "Transactions for the open statement."),
	rules.Optional("statements", rules.List(0, maxStatements, rules.Object(statementTable)), "Bills issued by the previous supplier, stored for reference."),
	rules.Optional("notes", rules.List(0, maxNotes, rules.Object(noteTable)), "Notes for support staff."),
	rules.Optional("payment_instructions", rules.List(0, maxInstructions, rules.Object(inlineInstructionTable)), "Payment instructions at a payment vendor. They are verified before the account is created."),
	rules.Optional("payment_schedules", rules.List(0, maxPaymentSchedules, rules.Object(paymentScheduleTable)), "When payments are collected."),
	rules.Optional("references", rules.List(0, maxReferences, rules.Object(referenceTable)), "Other identifiers of the account, such as a second account number."),
	rules.Optional("consents", rules.List(0, maxConsents, rules.Object(consentTable)), "Consents given by the account holder."),
	rules.Optional("metadata", metadataList, metadataDoc),
)

const (
	externalNumberDoc = "Account number in the source system."
	supplierDoc       = "Code of the import supplier."
	metadataDoc       = "Any other data to keep. It is stored unchanged."
)

var billingOptionsTable = rules.NewTable("BillingOptions", "How often the account is billed.",
	rules.Optional("period_length", rules.Choice("MONTHLY", "QUARTERLY", "ANNUAL"), "Unit of the billing period."),
	rules.Optional("period_length_multiplier", rules.Integer(1, 12), "Number of units in one billing period."),
	rules.Optional("period_start_day", rules.Integer(1, 28), "Day of the month on which a billing period starts."),
	rules.Optional("period_start_month", rules.Integer(1, 12), "Month of the year in which a billing period starts."),
)

var referenceTable = rules.NewTable("Reference", "Another identifier of the account.",
	rules.Required("namespace", rules.NonEmpty(50), "System or organisation that uses the identifier."),
	rules.Required("value", rules.NonEmpty(100), "The identifier."),
)

// metadataTable declares one metadata entry. Its value must be well-formed JSON
// and is stored unchanged.
var metadataTable = rules.NewTable("Metadatum", "A key and value for data that has no field of its own.",
	rules.Required("key", rules.NonEmpty(255), "Name of the entry, unique within the list."),
	rules.Required("value", rules.AnyJSON(), "Any JSON value. It is stored unchanged."),
)

// metadataList holds whatever the tables have no field for. Because of it,
// unknown fields can be refused without losing data.
var metadataList = rules.List(0, maxMetadata, rules.Object(metadataTable))
