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

	stripe "github.com/stripe/stripe-go/v85"

	"landfall"
)

// stripeVendor asks Stripe. A reference is a payment method (pm_…, or card_…
// from before there were payment methods) or a mandate (mandate_…).
type stripeVendor struct {
	client          *stripe.Client
	account         string // a connected account; "" for our own
	requireCustomer bool
	refuseExpired   bool
}

// References go into the path of a request, so nothing else is let through.
var (
	stripeMethod  = regexp.MustCompile(`^(pm|card)_[A-Za-z0-9_]{1,250}$`)
	stripeMandate = regexp.MustCompile(`^mandate_[A-Za-z0-9_]{1,250}$`)
	stripeAccount = regexp.MustCompile(`^(acct_[A-Za-z0-9]{1,64})?$`)
)

// readStripe reads the settings.
func readStripe(form *form, base *url.URL) func(*http.Client, string) adapter {
	vendor := stripeVendor{
		account:         form.text("account", ""),
		requireCustomer: form.flag("require_customer"),
		refuseExpired:   form.flag("refuse_expired"),
	}
	if !stripeAccount.MatchString(vendor.account) {
		form.fault("settings.account", "it is a connected account's id, acct_…")
	}
	return func(client *http.Client, secret string) adapter {
		// The library would repeat by itself, report timings to Stripe and
		// write failures to standard error.
		vendor.client = stripe.NewClient(secret, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
			URL:               stripe.String(base.String()),
			HTTPClient:        client,
			MaxNetworkRetries: stripe.Int64(0),
			EnableTelemetry:   new(false),
			LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		})))
		return vendor
	}
}

// ask fetches a payment method or a mandate, by the look of the reference.
func (v stripeVendor) ask(ctx context.Context, reference string) (answer, error) {
	switch {
	case stripeMethod.MatchString(reference):
		params := &stripe.PaymentMethodRetrieveParams{}
		v.address(&params.Params)
		method, err := v.client.V1PaymentMethods.Retrieve(ctx, reference, params)
		if err != nil {
			return answer{}, stripeFailure(err)
		}
		if method.Object != "payment_method" {
			return answer{}, broken("it is a thing of another kind")
		}
		if err := about(reference, method.ID); err != nil {
			return answer{}, err
		}
		return v.method(method), nil
	case stripeMandate.MatchString(reference):
		params := &stripe.MandateRetrieveParams{}
		v.address(&params.Params)
		params.AddExpand("payment_method")
		mandate, err := v.client.V1Mandates.Retrieve(ctx, reference, params)
		if err != nil {
			return answer{}, stripeFailure(err)
		}
		if mandate.Object != "mandate" {
			return answer{}, broken("it is a thing of another kind")
		}
		if err := about(reference, mandate.ID); err != nil {
			return answer{}, err
		}
		return v.mandate(mandate), nil
	}
	return answer{}, errMissing // Stripe has such ids for other things, or for none
}

// address directs a request to a connected account.
func (v stripeVendor) address(params *stripe.Params) {
	if v.account != "" {
		params.SetStripeAccount(v.account)
	}
}

// method reads a payment method. Stripe gives it no status of its own: it is
// usable unless the operator wants more.
func (v stripeVendor) method(method *stripe.PaymentMethod) answer {
	got := answer{types: stripeTypes(string(method.Type)), active: true}
	got.details = landfall.InstructionDetails{
		Status:     "attached",
		Scheme:     word(string(method.Type)),
		LastDigits: lastDigits(stripeDigits(method)),
	}
	if method.Customer == nil {
		got.details.Status = "unattached"
		got.active = !v.requireCustomer
	}
	if card := method.Card; card != nil {
		got.details.Scheme = word(string(card.Brand))
		got.details.Expiry = expiry(strconv.FormatInt(card.ExpYear, 10), strconv.FormatInt(card.ExpMonth, 10))
		if v.refuseExpired && got.details.Expiry != "" && got.details.Expiry < time.Now().UTC().Format("2006-01") {
			got.details.Status = "expired"
			got.active = false
		}
	}
	return got
}

// mandate reads a mandate. A pending one is new, not cancelled.
func (v stripeVendor) mandate(mandate *stripe.Mandate) answer {
	got := answer{active: mandate.Status == stripe.MandateStatusActive || mandate.Status == stripe.MandateStatusPending}
	got.details.Status = word(string(mandate.Status))
	if details := mandate.PaymentMethodDetails; details != nil {
		got.types = stripeTypes(string(details.Type))
		got.details.Scheme = word(string(details.Type))
	}
	if mandate.PaymentMethod != nil {
		method := v.method(mandate.PaymentMethod).details
		got.details.LastDigits, got.details.Expiry = method.LastDigits, method.Expiry
	}
	return got
}

// stripeTypes says what a Stripe type counts as here. What is neither a card
// nor a debit can only be a custom instruction.
func stripeTypes(name string) []string {
	switch name {
	case "card":
		return []string{landfall.Card}
	case "bacs_debit", "sepa_debit", "au_becs_debit", "acss_debit", "us_bank_account", "nz_bank_account":
		return []string{landfall.DirectDebit}
	}
	return []string{landfall.Custom}
}

// stripeDigits finds the last digits, which every type keeps elsewhere.
func stripeDigits(method *stripe.PaymentMethod) string {
	switch {
	case method.Card != nil:
		return method.Card.Last4
	case method.BACSDebit != nil:
		return method.BACSDebit.Last4
	case method.SEPADebit != nil:
		return method.SEPADebit.Last4
	case method.AUBECSDebit != nil:
		return method.AUBECSDebit.Last4
	case method.ACSSDebit != nil:
		return method.ACSSDebit.Last4
	case method.USBankAccount != nil:
		return method.USBankAccount.Last4
	case method.NzBankAccount != nil:
		return method.NzBankAccount.Last4
	}
	return ""
}

// stripeFailure keeps the errors of the way and drops the library's own: they
// quote the reply.
func stripeFailure(err error) error {
	var way *url.Error
	if !errors.As(err, &way) {
		return broken("it has an unexpected shape")
	}
	return notFound(way)
}

// notFound tells a vendor's "no such thing" from a stranger's 404, which comes
// from a wrong address or a page in between: the vendor's has an error object.
func notFound(err error) error {
	var status *statusError
	if !errors.As(err, &status) || status.status != http.StatusNotFound {
		return err
	}
	var body struct {
		Error map[string]any `json:"error"`
	}
	if json.Unmarshal(status.body, &body) != nil || body.Error == nil {
		return broken("its 404 is not the vendor's own")
	}
	return errMissing
}
