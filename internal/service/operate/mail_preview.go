package operate

import (
	"context"
	"fmt"

	"landfall"
)

// PreviewMail turns a sample of a supplier's mail into the mail about one of its
// accounts. Customers are named only if personal is set; otherwise the mail has the
// greeting for unknown names.
func (o *Operator) PreviewMail(ctx context.Context, sample landfall.OutgoingMail, external string, personal bool) (landfall.OutgoingMail, error) {
	facts, err := o.ShowAccount(ctx, landfall.Key{Supplier: sample.Key.Supplier, External: external})
	if err != nil {
		return landfall.OutgoingMail{}, err
	}
	if facts.Account == nil {
		return landfall.OutgoingMail{}, landfall.Refuse(landfall.CodeAccountNotFound,
			fmt.Sprintf("Account %s of %s has not been imported yet, so there is no mail to preview.", external, sample.Key.Supplier))
	}
	sample.Key, sample.AccountNumber, sample.CreatedAt = facts.Process.Key, facts.Account.Number, facts.Account.CreatedAt
	sample.Customers = nil
	if personal {
		// A mail goes to one person only.
		sample.Customers = facts.Account.Data.Customers[:min(1, len(facts.Account.Data.Customers))]
	}
	if len(facts.Mails) > 0 {
		sample.ID, sample.QueuedAt, sample.Language = facts.Mails[0].ID, facts.Mails[0].QueuedAt, facts.Mails[0].Language
	}
	return sample, nil
}
