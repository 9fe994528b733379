package mail

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Fields is the data of a template. Every field is one line of plain text.
type Fields struct {
	Name                string   // names of all customers with this address; "" when none is known
	Names               []string // the same, one by one
	AccountNumber       string
	FormerAccountNumber string // "" when it does not look like a number
	Supplier            string // name
	SupplierCode        string
	MovedOn             string // YYYY-MM-DD in the supplier's time zone
	ReplyTo             string // where the customer can write to
	Language            string // of the template
}

// Sample returns a mail about an account that does not exist, to preview templates.
func Sample(supplier landfall.Supplier) landfall.OutgoingMail {
	return landfall.OutgoingMail{
		MailRecord: landfall.MailRecord{
			ID: 1, Key: landfall.Key{Supplier: supplier.Code, External: "1001"}, AccountNumber: "A-7K3M9Q2B",
			Kind: landfall.MailMigrated, To: "ada@lovelace.example", QueuedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		},
		SupplierName: supplier.Name, TimeZone: supplier.TimeZone, CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Customers: []landfall.Customer{{Title: "Ms", GivenName: "Ada", FamilyName: "Lovelace"}},
	}
}

// fieldsOf collects the template data of an outgoing mail. No value contains
// line breaks or invisible characters.
func fieldsOf(outgoing landfall.OutgoingMail, replyTo, language string) Fields {
	fields := Fields{
		AccountNumber: outgoing.AccountNumber, FormerAccountNumber: formerNumberOf(outgoing.Key.External),
		Supplier: singleLine(outgoing.SupplierName), SupplierCode: outgoing.Key.Supplier,
		MovedOn: calendar.DayOf(outgoing.CreatedAt, calendar.Zone(outgoing.TimeZone)).String(),
		ReplyTo: replyTo, Language: language,
	}
	for _, customer := range outgoing.Customers {
		if name := nameOf(customer); name != "" {
			fields.Names = append(fields.Names, name)
		}
	}
	fields.Name = strings.Join(fields.Names, ", ")
	return fields
}

// Names and numbers come from the supplier's files. Without these limits, whoever
// writes them could write our mails: a sentence of their own, with a link or a
// telephone number.
const (
	maxNameLength   = 70 // characters
	maxNameWords    = 8
	maxNumberLength = 40
	maxNumberWords  = 2 // words of letters, as in NORTH-ELEC-1001
)

var (
	// nameShape has the characters of names of people and companies.
	nameShape = regexp.MustCompile(`^[\pL\pM\pN '"‘’“”ʼ.,&()-]*$`)
	// callPattern matches what could be a telephone number.
	callPattern = regexp.MustCompile(`\pN([ .()-]*\pN){4}`)
	// numberShape has the characters of account numbers.
	numberShape = regexp.MustCompile(`^[\pL\pN]([\pL\pN _./#-]*[\pL\pN])?$`)
	// wordPattern matches the words of letters in an account number.
	wordPattern = regexp.MustCompile(`(^|[^\pL\pN])\pL{2,}`)
	// domainPattern matches the dot of what mail programs turn into a link.
	domainPattern = regexp.MustCompile(`([\pL\pN])\.(\pL{2})`)
)

// formerNumberOf returns the account's old number as a mail may show it. A number
// that does not look like one is left out, because it could be a sentence.
func formerNumberOf(external string) string {
	number := singleLine(external)
	words := len(wordPattern.FindAllString(number, maxNumberWords+1))
	if !numberShape.MatchString(number) || strings.Contains(number, "//") || len([]rune(number)) > maxNumberLength || words > maxNumberWords {
		return ""
	}
	// 1234.AB is a number here and a link to a mail program.
	return domainPattern.ReplaceAllString(number, "$1 . $2")
}

// nameOf returns the name to greet a customer with, or "" if it does not look like
// one.
func nameOf(customer landfall.Customer) string {
	first, last := singleLine(customer.GivenName), singleLine(customer.FamilyName)
	if first == "" && last != "" {
		first = singleLine(customer.Title)
	}
	name := strings.TrimSpace(first + " " + last)
	if !nameShape.MatchString(name) || domainPattern.MatchString(name) || callPattern.MatchString(name) ||
		len([]rune(name)) > maxNameLength || len(strings.Fields(name)) > maxNameWords {
		return ""
	}
	return name
}

// singleLine replaces line breaks and runs of white space by single spaces and
// removes characters that hide or reverse text.
func singleLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cc, r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
