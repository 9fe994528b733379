package contract

import "landfall/internal/api/rules"

// transactionTable requires what every type needs. What only some types need
// is asked for by the checker, and fields that are usual for one type are
// allowed on all.
var transactionTable = rules.NewTable("Transaction", "A financial transaction from the other supplier's books.",
	rules.Required("transaction_id", identifierText, "The transaction's identifier in the other supplier's system."),
	rules.Required("transaction_date", rules.Date(), "The day of the transaction."),
	rules.Required("amount", rules.Amount(), "How much; PAYMENT and CREDIT raise the balance by it, the other types lower it. More than zero for PAYMENT and REPAYMENT."),
	rules.Required("type", rules.Choice("CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"), "The kind of transaction."),
	rules.Optional("reason", codeText, "Why; required for CHARGE and CREDIT."),
	rules.Optional("display_note", rules.Text(maxProse), "A note the customer sees."),
	rules.Optional("note", rules.Text(maxProse), "A note for support."),
	rules.Optional("reference", rules.Line(255), "The payment's reference."),
	rules.Optional("payment_type", codeText, "How the payment was made."),
	rules.Optional("product_code", codeText, "The product charged for; required for SUPPLY_CHARGE."),
	rules.Optional("line_items", rules.List(0, maxLineItems, rules.Object(lineItemTable)), "What the charge consists of; at least one for SUPPLY_CHARGE."),
	rules.Optional("tax_items", rules.List(0, maxTaxItems, rules.Object(taxItemTable)), "The taxes in the charge."),
)

// Net amounts and values taxed are decimals, not amounts: other systems keep
// them with more digits than a bill shows.
var lineItemTable = rules.NewTable("LineItem", "One line of a supply charge.",
	rules.Required("rate_band", codeText, "The rate that was applied."),
	rules.Required("start_date", rules.Date(), "First day charged."),
	rules.Required("end_date", rules.Date(), "Last day charged."),
	rules.Required("number_of_units", rules.Decimal(), "How many units were charged."),
	rules.Required("net_amount", rules.Decimal(), "The price of the units before tax."),
	rules.Optional("price_per_unit", rules.Decimal(), "The price of one unit before tax."),
	rules.Optional("units", rules.List(0, maxUnits, rules.Decimal()), "The opening and the closing reading."),
)

var taxItemTable = rules.NewTable("TaxItem", "One tax of a supply charge.",
	rules.Required("amount", rules.Amount(), "The tax."),
	rules.Required("tax_type", codeText, "Which tax, such as VAT."),
	rules.Required("value_taxed", rules.Decimal(), "The amount the tax is on."),
	rules.Required("rate", rules.Decimal(), "The rate of the tax."),
	rules.Required("unit_type", codeText, "How the rate is meant; PROPORTION means a share of the value taxed."),
)

// statementTable serves the account object and the statements endpoint.
var statementTable = rules.NewTable("Statement", "A bill the other supplier issued.",
	rules.Required("statement_id", identifierText, "The statement's identifier in the other supplier's system."),
	rules.Required("bill_period_from_date", rules.Date(), "First day billed."),
	rules.Required("bill_period_to_date", rules.Date(), "Last day billed."),
	rules.Optional("issued_date", rules.Date(), "When the statement was issued."),
	rules.Optional("number", rules.Line(128), "The statement's number, as printed."),
	rules.Optional("gross_amount", rules.Amount(), "The amount billed, taxes included."),
	rules.Optional("statement_path", documentPathText, "Where its PDF is, below the supplier's document root."),
)

// What a schedule needs depends on its trigger, which is a rule of the book.
var paymentScheduleTable = rules.NewTable("PaymentSchedule", "When money is collected.",
	rules.Required("start_date", rules.Date(), "First day of the schedule."),
	rules.Optional("end_date", rules.Date(), "Last day of the schedule; open when left out."),
	rules.Required("trigger", rules.Choice("REGULAR", "BILL", "BALANCE"), "What makes a collection happen."),
	rules.Optional("amount", rules.Amount(), "How much is collected; needed for REGULAR."),
	rules.Optional("frequency", rules.Choice("WEEKLY", "MONTHLY", "QUARTERLY", "ANNUAL"), "How often; needed for REGULAR."),
	rules.Optional("day_of_month", rules.Integer(1, 28), "On which day; needed for REGULAR."),
	rules.Optional("balance_threshold", rules.Amount(), "At which balance; needed for BALANCE."),
)

var instructionTypes = rules.Choice("CARD", "DIRECT_DEBIT", "BPAY", "PAYMENT_SLIP", "CUSTOM")

// inlineInstructionTable is the endpoint's table without the account's key.
var inlineInstructionTable = rules.NewTable("InlinePaymentInstruction", "A payment instruction inside an account object.",
	rules.Required("vendor", codeText, "Code of the payment vendor, as the operator configured it."),
	rules.Required("reference", rules.NonEmpty(255), "The instruction's reference at the vendor."),
	rules.Required("type", instructionTypes, "The kind of instruction."),
	rules.Optional("valid_from", rules.Date(), "First day the instruction may be used."),
	rules.Optional("use_for_scheduled_payments", rules.Boolean(), "Whether payment schedules collect with it."),
)
