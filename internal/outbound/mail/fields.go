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
	FormerAccountNumber string
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
		AccountNumber: outgoing.AccountNumber, FormerAccountNumber: singleLine(outgoing.Key.External),
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

// maxNameLength is the longest name, in characters, that a greeting repeats.
const maxNameLength = 100

// linkPattern matches what mail programs turn into a link.
var linkPattern = regexp.MustCompile(`[@:/\\]|[\pL\pN]\.\pL{2}`)

// nameOf returns the name to greet a customer with, or "". Names are untrusted
// input: one that mail programs would show as a link is left out.
func nameOf(customer landfall.Customer) string {
	first, last := singleLine(customer.GivenName), singleLine(customer.FamilyName)
	if first == "" && last != "" {
		first = singleLine(customer.Title)
	}
	name := strings.TrimSpace(first + " " + last)
	if linkPattern.MatchString(name) || len([]rune(name)) > maxNameLength {
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
		case unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
