package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/limits"
)

// CallerFact is something that a caller can say to prove who they are.
type CallerFact string

// The facts.
const (
	CallerBorn     CallerFact = "date_of_birth"
	CallerPostcode CallerFact = "postcode"
	CallerEmail    CallerFact = "email"
)

// CallerFacts lists the facts in the order in which they are asked for.
var CallerFacts = []CallerFact{CallerBorn, CallerPostcode, CallerEmail}

// Label names a fact for people.
func (f CallerFact) Label() string {
	return map[CallerFact]string{CallerBorn: "Date of birth", CallerPostcode: "Postcode", CallerEmail: "Email address"}[f]
}

// checkAction is what the audit says about a check.
const checkAction = "account.check"

// CheckCaller compares what a caller says with an account, and does not reveal the
// account's own value. The audit records the answer, and never what was said. Only a few
// checks of one account are allowed in a while, so that nobody can guess.
func (o *Operator) CheckCaller(ctx context.Context, key landfall.Key, fact CallerFact, said string) (matches bool, err error) {
	matching, err := callerMatch(fact, said)
	if err != nil {
		return false, err
	}
	err = o.change(ctx, checkAction, auditSubject(key), func(tx landfall.Tx) (string, error) {
		people, err := peopleOf(ctx, tx, key)
		if err != nil {
			return "", err
		}
		if people == nil {
			return "", landfall.Refuse(landfall.CodeValidationFailed, "The personal data of this account was removed, so nothing can be checked.")
		}
		// The account, or its refusal, is locked: two checks do not count at the same time.
		count, err := tx.CountAudit(ctx, auditSubject(key), checkAction, limits.CallerCheckWindow)
		if err != nil {
			return "", err
		}
		if count >= limits.CallerChecks {
			return "", &landfall.Error{Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: limits.CallerCheckWindow,
				Detail: fmt.Sprintf("This account was checked %d times in %d minutes. Wait, or reveal its data with a reason.", count, int(limits.CallerCheckWindow/time.Minute))}
		}
		matches = matching(people)
		return fmt.Sprintf("%s: %s", strings.ToLower(fact.Label()), map[bool]string{true: "yes", false: "no"}[matches]), nil
	})
	return matches && err == nil, err
}

// callerMatch returns how an account is compared with what a caller said.
func callerMatch(fact CallerFact, said string) (func(*landfall.AccountData) bool, error) {
	said = strings.TrimSpace(said)
	anyCustomer := func(data *landfall.AccountData, is func(landfall.Customer) bool) bool {
		return slices.ContainsFunc(data.Customers, is)
	}
	switch fact {
	case CallerBorn:
		born, ok := spokenDay(said)
		if !ok {
			return nil, invalid("said", rules.CodeInvalidDate, "Type the date of birth as 31/12/1980 or 1980-12-31.")
		}
		return func(data *landfall.AccountData) bool {
			return anyCustomer(data, func(one landfall.Customer) bool { return one.BornOn == born })
		}, nil
	case CallerPostcode:
		wanted := compactText(said)
		if len(wanted) < 3 {
			return nil, invalid("said", rules.CodeRequired, "Type the whole postcode.")
		}
		return func(data *landfall.AccountData) bool {
			is := compactText(data.BillingAddress.PostalCode) == wanted
			for _, place := range data.SupplyAddresses {
				is = is || compactText(place.Address.PostalCode) == wanted
			}
			return is
		}, nil
	case CallerEmail:
		if !strings.Contains(said, "@") {
			return nil, invalid("said", rules.CodeRequired, "Type the whole email address.")
		}
		return func(data *landfall.AccountData) bool {
			return anyCustomer(data, func(one landfall.Customer) bool { return strings.EqualFold(strings.TrimSpace(one.Email), said) })
		}, nil
	}
	return nil, invalid("fact", rules.CodeInvalidChoice, "Choose a date of birth, a postcode or an email address.")
}

// spokenDay reads a date as people write it, with the day first unless it begins with the
// year.
func spokenDay(text string) (calendar.Day, bool) {
	text = strings.Join(strings.Fields(strings.NewReplacer("/", " ", ".", " ", "-", " ", ",", " ").Replace(text)), " ")
	for _, layout := range []string{"2006 1 2", "2 1 2006", "2 Jan 2006", "2 January 2006"} {
		if at, err := time.Parse(layout, text); err == nil {
			day, err := calendar.ParseDay(at.Format(time.DateOnly))
			return day, err == nil
		}
	}
	return calendar.Day{}, false
}

// compactText keeps letters and digits in upper case.
func compactText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
}
