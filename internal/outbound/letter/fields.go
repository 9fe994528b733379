// Package letter writes what customers are told: it keeps the templates of
// suppliers and languages, fills them in, and puts the result into a message
// as mail servers take it. The same facts make the same message, byte for byte.
package letter

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Fields are what a template can say. Every one is a plain text of one line.
type Fields struct {
	Name                string   // of everybody who has the address; "" when nobody is known
	Names               []string // of each
	AccountNumber       string
	FormerAccountNumber string
	Supplier            string // its name
	SupplierCode        string
	MovedOn             string // YYYY-MM-DD, by the supplier's clock
	ReplyTo             string // where the customer can write to
	Language            string // of the template
}

// Sample are the facts of an account that does not exist, to try templates with.
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

// fieldsOf gathers what is told. Nothing in it can end a line or hide text.
func fieldsOf(mail landfall.OutgoingMail, replyTo, language string) Fields {
	fields := Fields{
		AccountNumber: mail.AccountNumber, FormerAccountNumber: oneLine(mail.Key.External),
		Supplier: oneLine(mail.SupplierName), SupplierCode: mail.Key.Supplier,
		MovedOn: calendar.DayOf(mail.CreatedAt, calendar.Zone(mail.TimeZone)).String(),
		ReplyTo: replyTo, Language: language,
	}
	for _, customer := range mail.Customers {
		if name := nameOf(customer); name != "" {
			fields.Names = append(fields.Names, name)
		}
	}
	fields.Name = strings.Join(fields.Names, ", ")
	return fields
}

// longestGreeting is as much of a name as anybody wants to be greeted with.
const longestGreeting = 100

// linking is what mail programs make a link of.
var linking = regexp.MustCompile(`[@:/\\]|[\pL\pN]\.\pL{2}`)

// nameOf is how a customer is greeted. Names were typed by people we do not
// know: one that would show as a link is not repeated.
func nameOf(customer landfall.Customer) string {
	first, last := oneLine(customer.GivenName), oneLine(customer.FamilyName)
	if first == "" && last != "" {
		first = oneLine(customer.Title)
	}
	name := strings.TrimSpace(first + " " + last)
	if linking.MatchString(name) || len([]rune(name)) > longestGreeting {
		return ""
	}
	return name
}

// oneLine keeps what can be seen, with single blanks between: neither line
// breaks nor marks that turn or hide text.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cc, r):
			return ' '
		case unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
