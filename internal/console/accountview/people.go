package accountview

import (
	"slices"
	"strings"

	"landfall"
	"landfall/internal/lib/calendar"
)

// hiddenMask stands for something that is there but not shown. Support can still
// tell a customer without an e-mail address from one who has it.
const hiddenMask = "***"

// People is who the customers are and where they live.
type People struct {
	Masked          bool       `json:"masked"` // every text below is a mask or empty
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

// Name is the whole name in the order it is spoken, or one mask for all of it.
func (c Customer) Name() string {
	if c.GivenName == hiddenMask || c.FamilyName == hiddenMask {
		return hiddenMask
	}
	return strings.Join(strings.Fields(c.Title+" "+c.GivenName+" "+c.FamilyName), " ")
}

// newPeople decides in one place what of a person is shown, so that no printer can get
// it wrong.
func newPeople(data landfall.AccountData, options Options) People {
	// behind lets a text through or puts a mask in its place.
	behind := func(partly func(string) string) func(string) string {
		return func(text string) string {
			switch {
			case text == "" || options.Personal:
				return text
			case options.PartialMasks:
				return partly(text)
			}
			return hiddenMask
		}
	}
	seen, name, email, phone := behind(MaskAll), behind(MaskName), behind(MaskEmail), behind(MaskPhone)
	title := behind(func(string) string { return "" }) // it would stand before the initials
	return People{
		Masked:      !options.Personal,
		BillingName: name(data.BillingName), BillingAddress: seen(addressLine(data.BillingAddress)),
		SupplyAddresses: convert(data.SupplyAddresses, func(place landfall.SupplyAddress) string { return seen(addressLine(place.Address)) }),
		Customers: convert(data.Customers, func(c landfall.Customer) Customer {
			return Customer{
				GivenName: name(c.GivenName), FamilyName: name(c.FamilyName), Title: title(c.Title), Email: email(c.Email),
				Mobile: phone(c.Mobile), Landline: phone(c.Landline), BornOn: seen(string(formatDay(c.BornOn))), Role: c.Role,
			}
		}),
	}
}

// addressLine writes an address as on the back of an envelope.
func addressLine(address landfall.Address) string {
	parts := slices.Concat(address.Lines, []string{address.Locality, address.PostalCode, address.Country})
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// formatDay writes a date, and nothing for none.
func formatDay(on calendar.Day) NullString {
	if on.IsZero() {
		return ""
	}
	return NullString(on.String())
}
