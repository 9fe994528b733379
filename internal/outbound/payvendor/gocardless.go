package payvendor

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"landfall"
)

// goCardless asks GoCardless. A reference is a mandate's id, MD….
type goCardless struct {
	inquiry inquiry
	active  []string
}

// accountLimit is the time for the bank account's last digits. They are an
// ornament: without them the instruction is as good.
const accountLimit = 2 * time.Second

// readGoCardless reads the settings. A mandate on its way to the bank counts
// as usable: it was agreed to, and GoCardless accepts payments against it.
func readGoCardless(form *form, base *url.URL) func(*http.Client, string) adapter {
	vendor := goCardless{active: form.list("active_statuses", "pending_submission,submitted,active")}
	return func(client *http.Client, secret string) adapter {
		vendor.inquiry = inquiry{client: client, base: base, headers: map[string]string{
			"Authorization":      "Bearer " + secret,
			"GoCardless-Version": "2015-07-06",
		}}
		return vendor
	}
}

// ask fetches the mandate. Whatever GoCardless holds is a direct debit.
func (v goCardless) ask(ctx context.Context, reference string) (answer, error) {
	reply, err := v.inquiry.get(ctx, "/mandates/"+url.PathEscape(reference))
	if err != nil {
		return answer{}, notFound(err)
	}
	find := func(steps ...string) string { return pointer(append([]string{"mandates"}, steps...)).find(reply) }
	if err := about(reference, find("id")); err != nil {
		return answer{}, err
	}
	status := find("status")
	return answer{
		types:  []string{landfall.DirectDebit},
		active: slices.Contains(v.active, status),
		details: landfall.InstructionDetails{
			Status:     word(status),
			Scheme:     word(find("scheme")),
			LastDigits: v.accountEnding(ctx, find("links", "customer_bank_account")),
		},
	}, nil
}

// accountEnding asks for the last digits of the bank account behind a mandate.
func (v goCardless) accountEnding(ctx context.Context, account string) string {
	if !sound(account) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, accountLimit)
	defer cancel()
	reply, err := v.inquiry.get(ctx, "/customer_bank_accounts/"+url.PathEscape(account))
	if err != nil {
		return ""
	}
	return lastDigits(pointer{"customer_bank_accounts", "account_number_ending"}.find(reply))
}
