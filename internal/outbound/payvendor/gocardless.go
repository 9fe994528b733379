package payvendor

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"landfall"
	"landfall/internal/lib/limits"
)

// goCardless queries GoCardless. A reference is the id of a mandate, MD….
type goCardless struct {
	api    apiClient
	active []string
}

// readGoCardless reads the settings. By default a mandate that is being submitted counts
// as active, because GoCardless accepts payments for it.
func readGoCardless(parser *configParser, base *url.URL) func(*http.Client, string) vendorAdapter {
	vendor := goCardless{active: parser.list("active_statuses", "pending_submission,submitted,active")}
	return func(client *http.Client, secret string) vendorAdapter {
		vendor.api = apiClient{client: client, base: base, headers: map[string]string{
			"Authorization":      "Bearer " + secret,
			"GoCardless-Version": "2015-07-06",
		}}
		return vendor
	}
}

// lookup fetches the mandate. All instructions at GoCardless are direct debits.
func (v goCardless) lookup(ctx context.Context, reference string) (result, error) {
	reply, err := v.api.get(ctx, "/mandates/"+url.PathEscape(reference))
	if err != nil {
		return result{}, vendorNotFound(err)
	}
	find := func(steps ...string) string { return pointer(append([]string{"mandates"}, steps...)).find(reply) }
	if err := checkID(reference, find("id")); err != nil {
		return result{}, err
	}
	status := find("status")
	return result{
		types:  []string{landfall.DirectDebit},
		active: slices.Contains(v.active, status),
		details: landfall.InstructionDetails{
			Status:     plainWord(status),
			Scheme:     plainWord(find("scheme")),
			LastDigits: v.accountEnding(ctx, find("links", "customer_bank_account")),
		},
	}, nil
}

// accountEnding fetches the last digits of the bank account.
func (v goCardless) accountEnding(ctx context.Context, account string) string {
	if !isValidReference(account) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, limits.VendorBankAccount)
	defer cancel()
	reply, err := v.api.get(ctx, "/customer_bank_accounts/"+url.PathEscape(account))
	if err != nil {
		return ""
	}
	return lastDigits(pointer{"customer_bank_accounts", "account_number_ending"}.find(reply))
}
