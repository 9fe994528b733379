package accountview

import (
	"slices"
	"strings"

	"landfall"
	"landfall/internal/lib/calendar"
)

// hiddenMask replaces a hidden value. It shows that there is one, such as an email
// address.
const hiddenMask = "***"

// People are the customers and their addresses.
type People struct {
	Masked          bool       `json:"masked"` // all texts below are masked
	BillingName     string     `json:"billing_name,omitempty"`
	BillingAddress  string     `json:"billing_address,omitempty"`
	SupplyAddresses []string   `json:"supply_addresses"`
	Customers       []Customer `json:"customers"`
}

// Customer is one person or business of the account.
type Customer struct {
	GivenName  string `json:"given_name,omitempty"`
	FamilyName string `json:"family_name,omitempty"`
	Title      string `json:"title,omitempty"`
	Email      string `json:"email,omitempty"`
	Mobile     string `json:"mobile,omitempty"`
	Landline   string `json:"landline,omitempty"`
	BornOn     string `json:"date_of_birth,omitempty"`
	Role       string `json:"role,omitempty"` // not personal, never masked
}

// Name is the full name, or one mask for all of it.
func (c Customer) Name() string {
	if c.GivenName == hiddenMask || c.FamilyName == hiddenMask {
		return hiddenMask
	}
	return strings.Join(strings.Fields(c.Title+" "+c.GivenName+" "+c.FamilyName), " ")
}

// mask is the only place that decides which personal data is shown. It returns how a
// value is written, if a part of it may be shown to recognise a caller.
func (o Options) mask(partly func(string) string) func(string) string {
	return func(text string) string {
		switch {
		case text == "" || o.Personal:
			return text
		case o.PartialMasks:
			return partly(text)
		}
		return hiddenMask
	}
}

func newPeople(data landfall.AccountData, options Options) People {
	all, name, email, phone := options.mask(MaskAll), options.mask(MaskName), options.mask(MaskEmail), options.mask(MaskPhone)
	title := options.mask(func(string) string { return "" }) // leave only the initials
	return People{
		Masked:      !options.Personal,
		BillingName: name(data.BillingName), BillingAddress: all(addressLine(data.BillingAddress)),
		SupplyAddresses: convert(data.SupplyAddresses, func(supply landfall.SupplyAddress) string { return all(addressLine(supply.Address)) }),
		Customers: convert(data.Customers, func(c landfall.Customer) Customer {
			return Customer{
				GivenName: name(c.GivenName), FamilyName: name(c.FamilyName), Title: title(c.Title), Email: email(c.Email),
				Mobile: phone(c.Mobile), Landline: phone(c.Landline), BornOn: all(string(formatDay(c.BornOn))), Role: c.Role,
			}
		}),
	}
}

func addressLine(address landfall.Address) string {
	parts := slices.Concat(address.Lines, []string{address.Locality, address.PostalCode, address.Country})
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// formatDay writes a date. No date is empty.
func formatDay(on calendar.Day) NullString {
	if on.IsZero() {
		return ""
	}
	return NullString(on.String())
}
