package contract

import "landfall/internal/api/rules"

// transactionTable requires what every type needs. What only some types need
// is asked for by the checker, and fields that are usual for one type are
// allowed on all.
var transactionTable = rules.NewTable("Transaction", "A financial transaction from the other supplier's books.",
	rules.Need("transaction_id", identifier, "The transaction's identifier in the other supplier's system."),
	rules.Need("transaction_date", rules.Date(), "The day of the transaction."),
	rules.Need("amount", rules.Amount(), "How much; PAYMENT and CREDIT raise the balance by it, the other types lower it. More than zero for PAYMENT and REPAYMENT."),
	rules.Need("type", rules.Choice("CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"), "The kind of transaction."),
	rules.May("reason", code, "Why; required for CHARGE and CREDIT."),
	rules.May("display_note", rules.Text(maxProse), "A note the customer sees."),
	rules.May("note", rules.Text(maxProse), "A note for support."),
	rules.May("reference", rules.Line(255), "The payment's reference."),
	rules.May("payment_type", code, "How the payment was made."),
	rules.May("product_code", code, "The product charged for; required for SUPPLY_CHARGE."),
	rules.May("line_items", rules.List(0, maxLineItems, rules.Object(lineItemTable)), "What the charge consists of; at least one for SUPPLY_CHARGE."),
	rules.May("tax_items", rules.List(0, maxTaxItems, rules.Object(taxItemTable)), "The taxes in the charge."),
)

// Net amounts and values taxed are decimals, not amounts: other systems keep
// them with more digits than a bill shows.
var lineItemTable = rules.NewTable("LineItem", "One line of a supply charge.",
	rules.Need("rate_band", code, "The rate that was applied."),
	rules.Need("start_date", rules.Date(), "First day charged."),
	rules.Need("end_date", rules.Date(), "Last day charged."),
	rules.Need("number_of_units", rules.Decimal(), "How many units were charged."),
	rules.Need("net_amount", rules.Decimal(), "The price of the units before tax."),
	rules.May("price_per_unit", rules.Decimal(), "The price of one unit before tax."),
	rules.May("units", rules.List(0, maxUnits, rules.Decimal()), "The opening and the closing reading."),
)

var taxItemTable = rules.NewTable("TaxItem", "One tax of a supply charge.",
	rules.Need("amount", rules.Amount(), "The tax."),
	rules.Need("tax_type", code, "Which tax, such as VAT."),
	rules.Need("value_taxed", rules.Decimal(), "The amount the tax is on."),
	rules.Need("rate", rules.Decimal(), "The rate of the tax."),
	rules.Need("unit_type", code, "How the rate is meant; PROPORTION means a share of the value taxed."),
)

// statementTable serves the account object and the statements endpoint.
var statementTable = rules.NewTable("Statement", "A bill the other supplier issued.",
	rules.Need("statement_id", identifier, "The statement's identifier in the other supplier's system."),
	rules.Need("bill_period_from_date", rules.Date(), "First day billed."),
	rules.Need("bill_period_to_date", rules.Date(), "Last day billed."),
	rules.May("issued_date", rules.Date(), "When the statement was issued."),
	rules.May("number", rules.Line(128), "The statement's number, as printed."),
	rules.May("gross_amount", rules.Amount(), "The amount billed, taxes included."),
	rules.May("statement_path", documentPath, "Where its PDF is, below the supplier's document root."),
)

// What a schedule needs depends on its trigger, which is a rule of the book.
var paymentScheduleTable = rules.NewTable("PaymentSchedule", "When money is collected.",
	rules.Need("start_date", rules.Date(), "First day of the schedule."),
	rules.May("end_date", rules.Date(), "Last day of the schedule; open when left out."),
	rules.Need("trigger", rules.Choice("REGULAR", "BILL", "BALANCE"), "What makes a collection happen."),
	rules.May("amount", rules.Amount(), "How much is collected; needed for REGULAR."),
	rules.May("frequency", rules.Choice("WEEKLY", "MONTHLY", "QUARTERLY", "ANNUAL"), "How often; needed for REGULAR."),
	rules.May("day_of_month", rules.Integer(1, 28), "On which day; needed for REGULAR."),
	rules.May("balance_threshold", rules.Amount(), "At which balance; needed for BALANCE."),
)

var instructionTypes = rules.Choice("CARD", "DIRECT_DEBIT", "BPAY", "PAYMENT_SLIP", "CUSTOM")

// inlineInstructionTable is the endpoint's table without the account's key.
var inlineInstructionTable = rules.NewTable("InlinePaymentInstruction", "A payment instruction inside an account object.",
	rules.Need("vendor", code, "Code of the payment vendor, as the operator configured it."),
	rules.Need("reference", rules.Name(255), "The instruction's reference at the vendor."),
	rules.Need("type", instructionTypes, "The kind of instruction."),
	rules.May("valid_from", rules.Date(), "First day the instruction may be used."),
	rules.May("use_for_scheduled_payments", rules.Boolean(), "Whether payment schedules collect with it."),
)
