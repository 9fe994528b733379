package contract

import "landfall/internal/api/rules"

var (
	transactionTypes = rules.Choice("CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE")
	instructionTypes = rules.Choice("CARD", "DIRECT_DEBIT", "BPAY", "PAYMENT_SLIP", "CUSTOM")
)

// transactionTable requires what every type needs. The checker asks for what
// only some types need. Fields that are usual for one type are allowed on all.
var transactionTable = rules.NewTable("Transaction", "A financial transaction from the source system.",
	rules.Required("transaction_id", identifierText, "Identifier of the transaction in the source system."),
	rules.Required("transaction_date", rules.Date(), "Date of the transaction."),
	rules.Required("amount", rules.Amount(), "Amount. PAYMENT and CREDIT increase the balance, the other types decrease it. Must be greater than zero for PAYMENT and REPAYMENT."),
	rules.Required("type", transactionTypes, "Type of transaction."),
	rules.Optional("reason", codeText, "Reason for the transaction. Required for CHARGE and CREDIT."),
	rules.Optional("display_note", rules.Text(maxProse), "Note shown to the customer."),
	rules.Optional("note", rules.Text(maxProse), "Note for support staff."),
	rules.Optional("reference", rules.Line(255), "Payment reference."),
	rules.Optional("payment_type", codeText, "How the payment was made."),
	rules.Optional("product_code", codeText, "Product charged for. Required for SUPPLY_CHARGE."),
	rules.Optional("line_items", rules.List(0, maxLineItems, rules.Object(lineItemTable)), "Line items of the charge. SUPPLY_CHARGE needs at least one."),
	rules.Optional("tax_items", rules.List(0, maxTaxItems, rules.Object(taxItemTable)), "Taxes included in the charge."),
)

// lineItemTable keeps net amounts as decimals, not as amounts, because other
// systems store more digits than a bill shows. The same holds for value_taxed.
var lineItemTable = rules.NewTable("LineItem", "A line item of a supply charge.",
	rules.Required("rate_band", codeText, "Rate that was applied."),
	rules.Required("start_date", rules.Date(), "First day charged."),
	rules.Required("end_date", rules.Date(), "Last day charged."),
	rules.Required("number_of_units", rules.Decimal(), "Number of units charged."),
	rules.Required("net_amount", rules.Decimal(), "Price of the units before tax."),
	rules.Optional("price_per_unit", rules.Decimal(), "Price of one unit before tax."),
	rules.Optional("units", rules.List(0, maxUnits, rules.Decimal()), "Opening and closing meter readings."),
)

var taxItemTable = rules.NewTable("TaxItem", "A tax on a supply charge.",
	rules.Required("amount", rules.Amount(), "Amount of tax."),
	rules.Required("tax_type", codeText, "Type of tax, such as VAT."),
	rules.Required("value_taxed", rules.Decimal(), "Amount the tax is calculated on."),
	rules.Required("rate", rules.Decimal(), "Tax rate."),
	rules.Required("unit_type", codeText, "How to read the rate. PROPORTION means a fraction of the value taxed."),
)

var statementTable = rules.NewTable("Statement", "A bill issued by the previous supplier.",
	rules.Required("statement_id", identifierText, "Identifier of the statement in the source system."),
	rules.Required("bill_period_from_date", rules.Date(), "First day billed."),
	rules.Required("bill_period_to_date", rules.Date(), "Last day billed."),
	rules.Optional("issued_date", rules.Date(), "Date the statement was issued."),
	rules.Optional("number", rules.Line(128), "Statement number as printed on the bill."),
	rules.Optional("gross_amount", rules.Amount(), "Amount billed, including taxes."),
	rules.Optional("statement_path", documentPathText, "Path of the PDF, relative to the supplier's document root."),
)

// paymentScheduleTable does not say which fields a trigger needs: those are
// cross-field rules.
var paymentScheduleTable = rules.NewTable("PaymentSchedule", "When payments are collected.",
	rules.Required("start_date", rules.Date(), "First day of the schedule."),
	rules.Optional("end_date", rules.Date(), "Last day of the schedule. Leave it out if the schedule has no end."),
	rules.Required("trigger", rules.Choice("REGULAR", "BILL", "BALANCE"), "What triggers a collection."),
	rules.Optional("amount", rules.Amount(), "Amount to collect. Required for REGULAR."),
	rules.Optional("frequency", rules.Choice("WEEKLY", "FORTNIGHTLY", "FOUR_WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUAL"), "How often to collect. Required for REGULAR."),
	rules.Optional("day_of_month", rules.Integer(1, 28), "Day of the month to collect on. Required for REGULAR, unless the frequency counts weeks."),
	rules.Optional("balance_threshold", rules.Amount(), "Balance that triggers a collection. Required for BALANCE."),
)

// instructionFields are the fields of a payment instruction, inside an account
// object and at its own endpoint.
var instructionFields = []rules.Field{
	rules.Required("vendor", codeText, "Code of the payment vendor, as configured by the operator."),
	rules.Required("reference", rules.NonEmpty(255), "Reference of the instruction at the vendor."),
	rules.Required("type", instructionTypes, "Type of instruction."),
	rules.Optional("valid_from", rules.Date(), "First day on which the instruction may be used."),
	rules.Optional("use_for_scheduled_payments", rules.Boolean(), "Whether payment schedules use this instruction."),
}

var inlineInstructionTable = rules.NewTable("InlinePaymentInstruction", "A payment instruction inside an account object.", instructionFields...)
