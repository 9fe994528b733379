package convert

import (
	"slices"
	"strings"
	"unicode"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// tableKind is a subject that a table can have.
type tableKind struct {
	name   string
	words  string // words in the names of such tables
	stem   string // file of the book
	parent string // the kind it belongs to
	path   string // the attr of the parent
	object *rules.Table
	tell   string // columns typical for such tables
}

// tableKinds lists the kinds, more specific ones first: a table of account notes has notes.
func tableKinds() []tableKind {
	account := contract.BookTable("accounts")
	inner := func(of *rules.Table, path ...string) *rules.Table {
		for _, name := range path {
			field, _ := findField(of, name)
			of = field.Type.Item.Table
		}
		return of
	}
	item := func(stem string) *rules.Table { return itemList(contract.BookTable(stem)).Item.Table }
	return []tableKind{
		{name: "notes", words: "note notes remark remarks memo memos comment comments", stem: "notes", object: item("notes"), tell: "body"},
		{name: "statements", words: "bill bills statement statements invoice invoices", stem: "statements", object: item("statements"), tell: "bill_period_to_date"},
		{name: "line items", words: "item items line lines position positions charge_lines", parent: "transactions", path: "line_items",
			object: inner(item("transactions"), "line_items"), tell: "rate_band number_of_units"},
		{name: "transactions", words: "transaction transactions ledger booking bookings posting postings payment payments journal", stem: "transactions",
			object: item("transactions"), tell: "transaction_id amount"},
		{name: "instructions", words: "mandate mandates instruction instructions direct_debit direct_debits", stem: "payment-instructions",
			object: contract.BookTable("payment-instructions"), tell: "vendor"},
		{name: "schedules", words: "schedule schedules instalment instalments", parent: "accounts", path: "payment_schedules",
			object: inner(account, "payment_schedules"), tell: "frequency"},
		{name: "agreements", words: "agreement agreements contract contracts tariff tariffs", parent: "supply points", path: "agreements",
			object: inner(account, "supply_addresses", "supply_points", "agreements"), tell: "product_code effective_from"},
		{name: "meters", words: "meter meters", parent: "supply points", path: "meters",
			object: inner(account, "supply_addresses", "supply_points", "meters"), tell: "serial_number"},
		{name: "supply points", words: "point points supply_point supply_points connection connections site_supply mpan mpans", parent: "addresses", path: "supply_points",
			object: inner(account, "supply_addresses", "supply_points"), tell: "identifier supply_type"},
		{name: "addresses", words: "address addresses premise premises property properties site sites", parent: "accounts", path: "supply_addresses",
			object: inner(account, "supply_addresses"), tell: "supply_address1 supply_postcode"},
		{name: "customers", words: "customer customers person persons people client clients contact contacts holder holders", parent: "accounts", path: "customers",
			object: inner(account, "customers"), tell: "given_name family_name"},
		{name: "accounts", words: "account accounts acct accts konto konten", stem: "accounts", object: account, tell: "transfer_balance billing_name"},
	}
}

// synonyms are names that old systems use for attrs, in lower case, only letters and digits.
var synonyms = map[string]string{
	"account":          "acctno accountno accountnumber accountnum accountid acctid acct accno account accountref acctnumber kontonr konto externalaccountnumber",
	"given_name":       "forename firstname givenname vorname first",
	"family_name":      "surname lastname familyname name last nachname",
	"title":            "title salut anrede",
	"email":            "email mail emailaddress e-mail",
	"billing_email":    "email mail emailaddress billingemail",
	"mobile":           "mobile mobilephone cell cellphone mobileno",
	"landline":         "phone landline telephone tel phoneno homephone telno",
	"date_of_birth":    "born dob dateofbirth birthdate birthday",
	"role":             "role",
	"billing_name":     "name billingname fullname accountname",
	"billing_address1": "street address1 address line1 addr1 addressline1 billingaddress1", "billing_address2": "town city address2 line2 addr2 addressline2",
	"billing_address3": "county address3 line3 addr3", "billing_postcode": "postcode zip postalcode plz zipcode",
	"supply_address1": "street address1 address line1 addr1", "supply_address2": "town city address2 line2 addr2", "supply_postcode": "postcode zip postalcode plz",
	"account_type": "kind accounttype accttype type custtype", "currency": "curr currency ccy", "company_number": "regno companyno companynumber companyreg",
	"date_of_sale": "sold saledate dateofsale", "language_preference": "lang language", "communication_preference": "comm communication contactby",
	"sales_channel": "channel saleschannel", "transfer_balance": "balance bal currentbalance saldo transferbalance",
	"last_statement_balance": "lastbal lastbalance statementbalance", "last_statement_closing_date": "closed closingdate laststatement",
	"last_statement_issue_date": "issued issuedate", "last_billed_to_date": "billedto billedtodate lastbilled", "next_bill_due_date": "nextbill nextbilldue",
	"customer_at_supply_address_from_date": "since movein moveddate occupiedfrom",
	"identifier":                           "mpxn mpan mprn pointid supplynumber supplyno identifier", "supply_type": "fuel supplytype product commodity",
	"supply_start_date": "begun startdate supplystart from started validfrom", "supply_end_date": "ended enddate supplyend to",
	"product_code": "product productcode tariff tariffcode", "effective_from": "begun from startdate validfrom effectivefrom start",
	"effective_to": "ended to enddate validto effectiveto end", "serial_number": "meter serial serialno meterserial meterno serialnumber",
	"installed_on": "installed installdate installedon", "removed_on": "removed removedon",
	"transaction_id": "transno transactionid transid transactionno txnid bookingno id", "transaction_date": "day date transdate transactiondate bookdate bookingdate valuedate",
	"amount": "amount amt value gross betrag", "type": "kind type transtype", "reason": "reason reasoncode", "reference": "ref reference",
	"payment_type": "paidby paymenttype paymethod method", "display_note": "text description note",
	"rate_band": "code band rateband", "start_date": "begun from startdate", "end_date": "ended to enddate", "number_of_units": "units quantity qty consumption",
	"price_per_unit": "price unitprice rate", "net_amount": "amount net netamount",
	"body": "remark text note body comment memo", "created_at": "written created createdat createdon date entered", "is_pinned": "pinned sticky",
	"statement_id": "billid statementid billno invoiceno id", "bill_period_from_date": "begun from periodfrom startdate", "bill_period_to_date": "ended to periodto enddate",
	"issued_date": "issued issuedate billdate", "number": "number billnumber invoicenumber", "gross_amount": "gross total amount", "statement_path": "document file path pdf filename",
	"day_of_month": "dayofmonth payday", "frequency": "frequency freq", "trigger": "trigger", "valid_from": "validfrom from since", "vendor": "vendor provider",
}

// plainName makes names comparable.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// columnFor returns the column that most likely fills an attr, or -1.
func columnFor(attr string, columns []string, taken map[int]bool) int {
	// The attr's own name comes first.
	for _, word := range append([]string{plainName(attr)}, strings.Fields(synonyms[attr])...) {
		for i, column := range columns {
			if !taken[i] && plainName(column) == word {
				return i
			}
		}
	}
	return -1
}

// guessKind returns the most likely kind of a table, by its name and typical columns. On a tie, the
// kind that uses more columns wins. It returns the zero value if nothing matches.
func guessKind(file string, columns []string) tableKind {
	var best tableKind
	most, fullest := 0, 0
	// Suggest only passes files with an extension.
	stem := strings.ToLower(strings.TrimSuffix(file, file[strings.LastIndexByte(file, '.'):]))
	words := strings.FieldsFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, one := range tableKinds() {
		score := 0
		for word := range strings.FieldsSeq(one.words) {
			if slices.Contains(words, word) || strings.ReplaceAll(word, "_", "") == plainName(stem) {
				// A name outweighs all columns.
				score = 10
			}
		}
		for attr := range strings.FieldsSeq(one.tell) {
			if columnFor(attr, columns, nil) >= 0 {
				score++
			}
		}
		if full := filled(one.object, columns); score > most || score > 0 && score == most && full > fullest {
			best, most, fullest = one, score, full
		}
	}
	return best
}

// filled counts the columns that would be used for an object.
func filled(object *rules.Table, columns []string) int {
	taken := map[int]bool{}
	for _, field := range object.Fields {
		if column := columnFor(field.Name, columns, taken); column >= 0 {
			taken[column] = true
		}
	}
	return len(taken)
}
