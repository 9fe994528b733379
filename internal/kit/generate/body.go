package generate

// The request bodies, as far as they are used. They are declared here again on purpose, as a caller
// would write them: using the service's own types would hide mistakes in them.

// account is the body that stages an account.
type account struct {
	Supplier       string          `json:"import_supplier"`
	External       string          `json:"external_account_number"`
	Type           string          `json:"account_type,omitempty"`
	BusinessType   string          `json:"business_type,omitempty"`
	CompanyNumber  string          `json:"company_number,omitempty"`
	Unknown        bool            `json:"unknown_occupier,omitempty"`
	Currency       string          `json:"currency"`
	BillingName    string          `json:"billing_name,omitempty"`
	BillingEmail   string          `json:"billing_email,omitempty"`
	Line1          string          `json:"billing_address1"`
	Line2          string          `json:"billing_address2"`
	Postcode       string          `json:"billing_postcode"`
	Communication  string          `json:"communication_preference"`
	Accessibility  string          `json:"document_accessibility,omitempty"`
	Language       string          `json:"language_preference,omitempty"`
	SalesChannel   string          `json:"sales_channel,omitempty"`
	SoldOn         string          `json:"date_of_sale"`
	ClosedOn       string          `json:"last_statement_closing_date,omitempty"`
	IssuedOn       string          `json:"last_statement_issue_date,omitempty"`
	BilledTo       string          `json:"last_billed_to_date,omitempty"`
	LastBalance    string          `json:"last_statement_balance,omitempty"`
	Balance        string          `json:"transfer_balance"`
	Billing        *billing        `json:"account_billing_options,omitempty"`
	Customers      []customer      `json:"customers"`
	Supplies       []supplyAddress `json:"supply_addresses"`
	Historical     []transaction   `json:"historical_statement_transactions,omitempty"`
	Current        []transaction   `json:"current_statement_transactions,omitempty"`
	Schedules      []schedule      `json:"payment_schedules,omitempty"`
	References     []reference     `json:"references,omitempty"`
	MistypedMember string          `json:"acount_type,omitempty"` // a fault
}

// billing is optional.
type billing struct {
	Period     string `json:"period_length"`
	Multiplier int    `json:"period_length_multiplier"`
	StartDay   int    `json:"period_start_day"`
}

type customer struct {
	Given       string       `json:"given_name"`
	Family      string       `json:"family_name"`
	Title       string       `json:"title,omitempty"`
	Email       string       `json:"email,omitempty"`
	Mobile      string       `json:"mobile,omitempty"`
	Landline    string       `json:"landline,omitempty"`
	Born        string       `json:"date_of_birth,omitempty"`
	Role        string       `json:"role,omitempty"`
	Preferences *preferences `json:"customer_preferences,omitempty"`
}

// preferences always has both members: a refusal differs from no answer.
type preferences struct {
	SMS    bool `json:"opted_into_sms"`
	Offers bool `json:"opted_into_offers"`
}

type supplyAddress struct {
	Line1    string        `json:"supply_address1"`
	Line2    string        `json:"supply_address2"`
	Postcode string        `json:"supply_postcode"`
	Since    string        `json:"customer_at_supply_address_from_date"`
	Points   []supplyPoint `json:"supply_points"`
}

type supplyPoint struct {
	Identifier string      `json:"identifier"`
	Type       string      `json:"supply_type"`
	StartedOn  string      `json:"supply_start_date"`
	BilledTo   string      `json:"last_billed_to_date,omitempty"`
	Agreements []agreement `json:"agreements"`
	Meters     []meter     `json:"meters"`
}

// agreement has no end while it is in force.
type agreement struct {
	Product string `json:"product_code"`
	From    string `json:"effective_from"`
	To      string `json:"effective_to,omitempty"`
}

type meter struct {
	Serial      string     `json:"serial_number"`
	InstalledOn string     `json:"installed_on"`
	Registers   []register `json:"registers"`
}

type register struct {
	ID       string    `json:"register_id"`
	Digits   int       `json:"number_of_digits"`
	Readings []reading `json:"transfer_readings"`
}

// reading has a text value, like all amounts, to avoid floating point.
type reading struct {
	On    string `json:"reading_date"`
	Type  string `json:"reading_type"`
	Value string `json:"reading_value"`
}

// transaction has positive amounts; its type decides the sign.
type transaction struct {
	ID          string     `json:"transaction_id"`
	On          string     `json:"transaction_date"`
	Amount      string     `json:"amount"`
	Type        string     `json:"type"`
	Reason      string     `json:"reason,omitempty"`
	Note        string     `json:"display_note,omitempty"`
	Reference   string     `json:"reference,omitempty"`
	PaymentType string     `json:"payment_type,omitempty"`
	Product     string     `json:"product_code,omitempty"`
	Lines       []lineItem `json:"line_items,omitempty"`
	Taxes       []taxItem  `json:"tax_items,omitempty"`
}

type lineItem struct {
	Band  string `json:"rate_band"`
	From  string `json:"start_date"`
	To    string `json:"end_date"`
	Units string `json:"number_of_units"`
	Price string `json:"price_per_unit"`
	Net   string `json:"net_amount"`
}

type taxItem struct {
	Amount string `json:"amount"`
	Type   string `json:"tax_type"`
	Taxed  string `json:"value_taxed"`
	Rate   string `json:"rate"`
	Unit   string `json:"unit_type"`
}

type schedule struct {
	From      string `json:"start_date"`
	Trigger   string `json:"trigger"`
	Amount    string `json:"amount"`
	Frequency string `json:"frequency"`
	Day       int    `json:"day_of_month"`
}

type reference struct {
	Namespace string `json:"namespace"`
	Value     string `json:"value"`
}

// envelope names the account in everything that is added to one.
type envelope struct {
	Supplier string `json:"import_supplier"`
	External string `json:"external_account_number"`
}

// notes, transactions and statements embed the envelope, as the calls expect.
type notes struct {
	envelope
	Notes []note `json:"notes"`
}

type note struct {
	Body   string `json:"body"`
	At     string `json:"created_at"`
	Pinned bool   `json:"is_pinned,omitempty"`
}

type transactions struct {
	envelope
	Transactions []transaction `json:"transactions"`
}

type statements struct {
	envelope
	Statements []statement `json:"statements"`
}

type statement struct {
	ID       string `json:"statement_id"`
	From     string `json:"bill_period_from_date"`
	To       string `json:"bill_period_to_date"`
	IssuedOn string `json:"issued_date"`
	Number   string `json:"number"`
	Gross    string `json:"gross_amount"`
	Path     string `json:"statement_path"`
}

type instruction struct {
	envelope
	Vendor    string `json:"vendor"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
	From      string `json:"valid_from"`
	Scheduled bool   `json:"use_for_scheduled_payments"`
}
