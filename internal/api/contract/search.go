package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"landfall"
)

// Search terms of accounts and search queries go through the same functions, so
// that one finds the other.

const (
	maxTermBytes = 96  // bytes; longer texts are rare, and indexes have limits
	maxTerms     = 200 // of one account
	maxWords     = 6   // of a name, or of a query
	minTail      = landfall.NumberTail
	// phoneEnd separates the digits of a phone number from the digit before them.
	phoneEnd = "<"
)

// SearchTerms returns the search terms of a staged document. If the index only finds
// whole terms, phone numbers are indexed whole.
func SearchTerms(document []byte, region string, whole bool) []landfall.SearchTerm {
	data, readable := searchData(document)
	if !readable {
		return nil
	}
	return dataTerms(data, region, whole)
}

// searchData reads the part of a document that a search needs.
func searchData(document []byte) (*landfall.AccountData, bool) {
	account, err := ReadAccount(context.Background(), document)
	if err != nil {
		return nil, false
	}
	defer account.Release()
	return account.searchData(), true
}

func (a *Account) searchData() *landfall.AccountData {
	root := a.document.Root()
	return &landfall.AccountData{
		Key: a.Key(), BillingName: root.Field("billing_name").Text(), BillingAddress: bindAddress(root, &billingAddressNames),
		Customers:       bindList(root.Field("customers"), bindCustomer),
		SupplyAddresses: bindList(root.Field("supply_addresses"), bindSupplyAddress),
		Instructions:    bindList(root.Field("payment_instructions"), bindInstruction),
	}
}

// dataTerms returns the terms of an account, each once, in the order of the index.
func dataTerms(data *landfall.AccountData, region string, whole bool) []landfall.SearchTerm {
	var terms []landfall.SearchTerm
	add := func(kind landfall.TermKind, text string) {
		if text != "" && len(terms) < maxTerms {
			terms = append(terms, landfall.SearchTerm{Kind: kind, Text: truncateTerm(text)})
		}
	}
	words := func(kind landfall.TermKind, text string) {
		found := nameWords(text)
		for _, word := range found[:min(len(found), maxWords)] {
			add(kind, word)
		}
	}
	tail := func(number string) {
		if number = keepAlphanumeric(number); len(number) >= minTail {
			add(landfall.TermNumber, reverse(number))
		}
	}
	phone := func(number string) {
		digits := phoneTerm(number, callingCode(region))
		if whole {
			add(landfall.TermPhone, digits)
			return
		}
		for _, part := range phoneParts(digits) {
			add(landfall.TermPhone, part)
		}
	}
	address := func(address landfall.Address) {
		for _, line := range address.Lines {
			words(landfall.TermAddress, line)
		}
		words(landfall.TermAddress, address.Locality)
		add(landfall.TermPostcode, keepAlphanumeric(address.PostalCode))
	}
	tail(data.Key.External)
	words(landfall.TermName, data.BillingName)
	for i := range data.Customers {
		customer := &data.Customers[i]
		words(landfall.TermName, customer.GivenName)
		words(landfall.TermName, customer.FamilyName)
		add(landfall.TermEmail, strings.ToLower(customer.Email))
		phone(customer.Mobile)
		phone(customer.Landline)
	}
	address(data.BillingAddress)
	for i := range data.SupplyAddresses {
		place := &data.SupplyAddresses[i]
		address(place.Address)
		for j := range place.SupplyPoints {
			point := &place.SupplyPoints[j]
			add(landfall.TermSupplyPoint, keepAlphanumeric(point.Identifier))
			tail(point.Identifier)
			for k := range point.Meters {
				tail(point.Meters[k].SerialNumber)
			}
		}
	}
	for i := range data.Instructions {
		tail(data.Instructions[i].Reference)
	}
	slices.SortFunc(terms, func(a, b landfall.SearchTerm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(terms)
}

// People returns who a document is about: names, addresses, supply points and payment
// instructions. It is nil if the document cannot be read.
func People(document []byte) *landfall.AccountData {
	data, readable := searchData(document)
	if !readable {
		return nil
	}
	return data
}

// SearchPerson returns by what people recognise the account of a document.
func SearchPerson(document []byte) landfall.SearchPerson {
	data, readable := searchData(document)
	if !readable {
		return landfall.SearchPerson{}
	}
	person := landfall.SearchPerson{Name: strings.TrimSpace(data.BillingName)}
	if person.Name == "" && len(data.Customers) > 0 {
		person.Name = strings.TrimSpace(data.Customers[0].GivenName + " " + data.Customers[0].FamilyName)
	}
	// Where the customer lives is where the supply is. A bill may go elsewhere.
	address := data.BillingAddress
	if len(data.SupplyAddresses) > 0 {
		address = data.SupplyAddresses[0].Address
	}
	person.Town, person.Postcode = town(address), address.PostalCode
	return person
}

// town returns the town of an address: its own field, or the last line if it is not the
// only one and looks like a town. Anything else is personal, and not shown.
func town(address landfall.Address) string {
	if last := len(address.Lines) - 1; address.Locality == "" && last > 0 {
		if line := address.Lines[last]; !strings.ContainsAny(line, "0123456789/@,") {
			return line
		}
	}
	return address.Locality
}

// maxKept limits the lists of a refused document that are kept, and maxKeptText their
// texts.
const maxKept, maxKeptText = 4, 200

// SearchDocument returns the part of a document by which its account is found and
// recognised, as a document. It is kept of a refused account, whose document is not. It
// is nil if the document cannot be read.
func SearchDocument(document []byte) []byte {
	data, readable := searchData(document)
	if !readable {
		return nil
	}
	short := func(text string) string {
		return strings.ToValidUTF8(text[:min(len(text), maxKeptText)], "")
	}
	object := func(pairs ...string) map[string]any {
		fields := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			if text := short(pairs[i+1]); text != "" {
				fields[pairs[i]] = text
			}
		}
		return fields
	}
	address := func(fields map[string]any, names *addressNames, address landfall.Address) {
		lines := address.Lines
		if address.Locality != "" {
			lines = append(slices.Clone(lines), address.Locality)
		}
		for i, line := range lines[:min(len(lines), len(names.lines))] {
			fields[names.lines[i]] = short(line)
		}
		if address.PostalCode != "" {
			fields[names.postcode] = short(address.PostalCode)
		}
	}
	kept := object("import_supplier", data.Key.Supplier, "external_account_number", data.Key.External, "billing_name", data.BillingName)
	address(kept, &billingAddressNames, data.BillingAddress)
	var customers, places, instructions []map[string]any
	for _, one := range data.Customers[:min(len(data.Customers), maxKept)] {
		customer := object("given_name", one.GivenName, "family_name", one.FamilyName, "email", one.Email, "mobile", one.Mobile, "landline", one.Landline)
		if !one.BornOn.IsZero() {
			customer["date_of_birth"] = one.BornOn.String()
		}
		customers = append(customers, customer)
	}
	for _, one := range data.SupplyAddresses[:min(len(data.SupplyAddresses), maxKept)] {
		place := map[string]any{}
		address(place, &supplyAddressNames, one.Address)
		var points []map[string]any
		for _, point := range one.SupplyPoints[:min(len(one.SupplyPoints), maxKept)] {
			points = append(points, object("identifier", point.Identifier, "supply_type", point.SupplyType))
		}
		place["supply_points"] = points
		places = append(places, place)
	}
	for _, one := range data.Instructions[:min(len(data.Instructions), maxKept)] {
		instructions = append(instructions, object("vendor", one.Vendor, "reference", one.Reference))
	}
	kept["customers"], kept["supply_addresses"], kept["payment_instructions"] = customers, places, instructions
	text, err := json.Marshal(kept)
	if err != nil {
		return nil // texts and lists can always be written
	}
	return text
}

// nameWords returns the words of a name or an address without accents and case: Zoë
// O'Hara-Li is found by zoe, ohara and li.
func nameWords(name string) []string {
	var plain strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			plain.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '.':
		default:
			plain.WriteByte(' ')
		}
	}
	return strings.Fields(plain.String())
}

// keepAlphanumeric keeps only the letters and digits of a postcode or identifier,
// because people place spaces differently.
func keepAlphanumeric(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
}

// phoneTerm returns the digits of a phone number in international form, so that
// 07700 900123 equals +44 7700 900123. Extensions are dropped.
func phoneTerm(text, calling string) string {
	if at := strings.IndexAny(text, "eExX"); at >= 0 {
		text = text[:at]
	}
	abroad := strings.HasPrefix(strings.TrimSpace(text), "+")
	digits := onlyDigits(strings.Replace(text, "(0)", "", 1))
	switch {
	case abroad, digits == "":
		return digits
	case strings.HasPrefix(digits, "00"):
		return digits[2:]
	case calling == "":
		return digits
	}
	return calling + strings.TrimPrefix(digits, "0")
}

func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// maxPhoneDigits is how many digits of a phone number are indexed.
const maxPhoneDigits = 16

// phoneParts returns what finds a phone number by any part of it: every second of its
// ends, each with the digit before it. A part of four digits begins with one of the ends,
// or with the digit before one.
func phoneParts(digits string) (parts []string) {
	digits = digits[:min(len(digits), maxPhoneDigits)]
	for at := 0; at == 0 && digits != "" || len(digits)-at >= minTail-1; at += 2 {
		part := digits[at:] + phoneEnd
		if at > 0 {
			part += digits[at-1 : at]
		}
		parts = append(parts, part)
	}
	return parts
}

// callingCode returns the calling code of a region, such as 44, or "".
func callingCode(region string) string {
	if code := phonenumbers.GetCountryCodeForRegion(region); code != 0 {
		return strconv.Itoa(code)
	}
	return ""
}

func truncateTerm(text string) string {
	if len(text) <= maxTermBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxTermBytes], "")
}

// reverse returns a text backwards.
func reverse(text string) string {
	letters := []rune(text)
	slices.Reverse(letters)
	return string(letters)
}
