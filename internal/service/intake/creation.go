package intake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/ledger"
)

// creation puts together everything the account will consist of. The inline
// data goes through the same decisions as data that is posted later.
func (a *attempt) creation(data landfall.AccountData, now time.Time) (landfall.Creation, error) {
	if data.Currency == "" {
		data.Currency = a.supplier.Currency
	}
	periods, entries, balance := ledger.Open(data, calendar.DayOf(now, calendar.Zone(a.supplier.TimeZone)))
	_, data.Notes = ledger.PrepareNotes(data.Notes).Onto(nil, now)
	fresh, conflict := ledger.PostStatements(nil, data.Statements)
	if conflict >= 0 {
		return landfall.Creation{}, refuseStatement(conflict)
	}
	data.Statements = fresh
	instructions, conflict, differences := ledger.PostInstructions(nil, data.Instructions)
	if conflict >= 0 {
		return landfall.Creation{}, refuseInstruction(fmt.Sprintf("payment_instructions.%d.", conflict), differences)
	}
	data.Instructions = instructions
	creation := landfall.Creation{
		Claim: a.claim, By: a.who.Author(), Run: a.within,
		Account: landfall.Account{
			Key: a.claim.Key, Revision: a.claim.Revision, Team: a.claim.Team, Data: data,
			Periods: periods, Ledger: entries, Balance: balance,
		},
	}
	if a.supplier.SendCustomerEmails {
		creation.Mails = welcome(data, a.desk.mailDelay)
	}
	return creation, nil
}

// welcome queues one message for every address of a customer, whose letters may
// be written large or small. Addresses of the dead get none: whoever reads them
// now must not be greeted by a machine in their name.
func welcome(data landfall.AccountData, delay time.Duration) []landfall.Mail {
	var mails []landfall.Mail
	for _, customer := range data.Customers {
		to := customer.Email
		known := slices.ContainsFunc(mails, func(mail landfall.Mail) bool { return strings.EqualFold(mail.To, to) })
		mourned := slices.ContainsFunc(data.Customers, func(other landfall.Customer) bool {
			return other.Deceased && strings.EqualFold(other.Email, to)
		})
		if to != "" && !known && !mourned {
			mails = append(mails, landfall.Mail{Kind: landfall.MailMigrated, To: to, Language: data.Language, Delay: delay})
		}
	}
	return mails
}
