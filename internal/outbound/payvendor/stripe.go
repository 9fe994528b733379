package payvendor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"landfall"
)

// stripeVendor queries Stripe. A reference is a payment method (pm_…, or card_… from
// before there were payment methods) or a mandate (mandate_…).
type stripeVendor struct {
	api             apiClient
	requireCustomer bool
	refuseExpired   bool
}

// stripeVersion pins the API version, so that a change of the Stripe account's default
// version does not change the replies.
const stripeVersion = "2026-03-25.dahlia"

// References become part of the request path, so only these characters are allowed.
var (
	stripeMethodID  = regexp.MustCompile(`^(pm|card)_[A-Za-z0-9_]{1,250}$`)
	stripeMandateID = regexp.MustCompile(`^mandate_[A-Za-z0-9_]{1,250}$`)
	stripeAccountID = regexp.MustCompile(`^(acct_[A-Za-z0-9]{1,64})?$`)
)

// readStripe reads the settings.
func readStripe(parser *configParser, base *url.URL) func(*http.Client, string) vendorAdapter {
	vendor := stripeVendor{
		requireCustomer: parser.flag("require_customer"),
		refuseExpired:   parser.flag("refuse_expired"),
	}
	account := parser.text("account", "") // a connected account; "" for our own
	if !stripeAccountID.MatchString(account) {
		parser.addError("settings.account", "want the id of a connected account, acct_…")
	}
	return func(client *http.Client, secret string) vendorAdapter {
		headers := map[string]string{"Authorization": "Bearer " + secret, "Stripe-Version": stripeVersion}
		if account != "" {
			headers["Stripe-Account"] = account
		}
		vendor.api = apiClient{client: client, base: base, headers: headers}
		return vendor
	}
}

// stripeMethod is the part of a payment method that we read.
type stripeMethod struct {
	ID       string      `json:"id"`
	Object   string      `json:"object"`
	Type     string      `json:"type"`
	Customer any         `json:"customer"` // an id or an object; nil when there is none
	Card     *stripeCard `json:"card"`

	// Debits keep the last digits of the bank account under the name of their type.
	BACSDebit     *stripeBank `json:"bacs_debit"`
	SEPADebit     *stripeBank `json:"sepa_debit"`
	AUBECSDebit   *stripeBank `json:"au_becs_debit"`
	ACSSDebit     *stripeBank `json:"acss_debit"`
	USBankAccount *stripeBank `json:"us_bank_account"`
	NZBankAccount *stripeBank `json:"nz_bank_account"`
}

type stripeCard struct {
	Brand    string `json:"brand"`
	Last4    string `json:"last4"`
	ExpYear  int64  `json:"exp_year"`
	ExpMonth int64  `json:"exp_month"`
}

type stripeBank struct {
	Last4 string `json:"last4"`
}

// stripeMandate is the part of a mandate that we read.
type stripeMandate struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Status  string `json:"status"`
	Details *struct {
		Type string `json:"type"`
	} `json:"payment_method_details"`
	Method expandedMethod `json:"payment_method"`
}

// expandedMethod is a payment method inside another object. It is nil when Stripe sent
// only the id.
type expandedMethod struct{ *stripeMethod }

// UnmarshalJSON implements json.Unmarshaler.
func (e *expandedMethod) UnmarshalJSON(data []byte) error {
	var id string
	if json.Unmarshal(data, &id) == nil { // also null
		return nil
	}
	return json.Unmarshal(data, &e.stripeMethod)
}

// lookup fetches a payment method or a mandate, depending on the reference.
func (v stripeVendor) lookup(ctx context.Context, reference string) (result, error) {
	switch {
	case stripeMethodID.MatchString(reference):
		var method stripeMethod
		if err := v.get(ctx, "/v1/payment_methods/"+reference, &method); err != nil {
			return result{}, err
		}
		if err := checkStripe(reference, "payment_method", method.ID, method.Object); err != nil {
			return result{}, err
		}
		return v.method(&method), nil
	case stripeMandateID.MatchString(reference):
		var mandate stripeMandate
		if err := v.get(ctx, "/v1/mandates/"+reference+"?expand[0]=payment_method", &mandate); err != nil {
			return result{}, err
		}
		if err := checkStripe(reference, "mandate", mandate.ID, mandate.Object); err != nil {
			return result{}, err
		}
		return v.mandate(&mandate), nil
	}
	return result{}, errNotFound // not the id of a payment method or a mandate
}

func (v stripeVendor) get(ctx context.Context, path string, object any) error {
	body, err := v.api.fetch(ctx, path)
	if err != nil {
		return vendorNotFound(err)
	}
	if json.Unmarshal(body, object) != nil {
		return badReply("it has an unexpected shape")
	}
	return nil
}

func checkStripe(reference, kind, id, object string) error {
	if object != kind {
		return badReply("it is an object of another kind")
	}
	return checkID(reference, id)
}

// method reads a payment method. Stripe gives it no status: it is usable unless the
// settings ask for more.
func (v stripeVendor) method(method *stripeMethod) result {
	got := result{types: stripeTypes(method.Type), active: true}
	got.details = landfall.InstructionDetails{
		Status:     "attached",
		Scheme:     plainWord(method.Type),
		LastDigits: lastDigits(method.last4()),
	}
	if method.Customer == nil {
		got.details.Status = "unattached"
		got.active = !v.requireCustomer
	}
	if card := method.Card; card != nil {
		got.details.Scheme = plainWord(card.Brand)
		got.details.Expiry = expiry(strconv.FormatInt(card.ExpYear, 10), strconv.FormatInt(card.ExpMonth, 10))
		if v.refuseExpired && got.details.Expiry != "" && got.details.Expiry < time.Now().UTC().Format("2006-01") {
			got.details.Status = "expired"
			got.active = false
		}
	}
	return got
}

// mandate reads a mandate. A pending one is new and usable.
func (v stripeVendor) mandate(mandate *stripeMandate) result {
	got := result{active: mandate.Status == "active" || mandate.Status == "pending"}
	got.details.Status = plainWord(mandate.Status)
	if mandate.Details != nil {
		got.types = stripeTypes(mandate.Details.Type)
		got.details.Scheme = plainWord(mandate.Details.Type)
	}
	if mandate.Method.stripeMethod != nil {
		method := v.method(mandate.Method.stripeMethod).details
		got.details.LastDigits, got.details.Expiry = method.LastDigits, method.Expiry
	}
	return got
}

// stripeTypes maps a Stripe type to instruction types. What is neither a card nor a
// debit can only be a custom instruction.
func stripeTypes(name string) []string {
	switch name {
	case "card":
		return []string{landfall.Card}
	case "bacs_debit", "sepa_debit", "au_becs_debit", "acss_debit", "us_bank_account", "nz_bank_account":
		return []string{landfall.DirectDebit}
	}
	return []string{landfall.Custom}
}

// last4 returns the last digits of the card or bank account.
func (m *stripeMethod) last4() string {
	if m.Card != nil {
		return m.Card.Last4
	}
	for _, bank := range []*stripeBank{m.BACSDebit, m.SEPADebit, m.AUBECSDebit, m.ACSSDebit, m.USBankAccount, m.NZBankAccount} {
		if bank != nil {
			return bank.Last4
		}
	}
	return ""
}

// vendorNotFound distinguishes the vendor's own "not found", which has an error object, from
// another 404, which comes from a wrong base URL or a proxy.
func vendorNotFound(err error) error {
	var status *statusError
	if !errors.As(err, &status) || status.status != http.StatusNotFound {
		return err
	}
	var body struct {
		Error map[string]any `json:"error"`
	}
	if json.Unmarshal(status.body, &body) != nil || body.Error == nil {
		return badReply("the 404 does not come from the vendor's API")
	}
	return errNotFound
}
