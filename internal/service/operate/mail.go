package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
)

// checkMailSender refuses to switch customer mails on when no server sends them:
// customers would get no mail, and the operator would not know. It accepts the
// change if this command is configured with a mail server, or if a server
// recorded in the database that it sends mails.
func (o *Operator) checkMailSender(ctx context.Context, view landfall.MailReader, before bool, supplier landfall.Supplier) error {
	if before || !supplier.SendCustomerEmails || o.mails {
		return nil
	}
	until, err := view.MailSenderUntil(ctx)
	if err != nil || until.After(o.clock()) {
		return err
	}
	return landfall.Refuse(landfall.CodeValidationFailed,
		"No server of this database sends e-mails. Start a server with the setting smtp-server, "+
			"or give this command the same settings (LANDFALL_SMTP_SERVER, LANDFALL_MAIL_FROM), and try again.")
}

// mailPage is how many mails are read or changed in one transaction.
const mailPage = 200

// Mails calls each for every mail that matches.
func (o *Operator) Mails(ctx context.Context, query landfall.MailQuery, each func(landfall.MailRecord) error) error {
	if query.Supplier != "" {
		if _, err := o.ShowSupplier(ctx, query.Supplier); err != nil {
			return err
		}
	}
	if query.State != "" && !slices.Contains(landfall.MailStates, query.State) {
		return invalid("state", rules.CodeInvalidChoice, "State %q is not known; use one of %s.", string(query.State), join(landfall.MailStates))
	}
	// Read each page completely before handing it over, so that a slow caller
	// does not keep a snapshot open.
	left := query.Limit
	for query.Limit = mailPage; left > 0; {
		var page []landfall.MailRecord
		query.Limit = min(mailPage, left)
		err := o.view(ctx, "mail.list", func(view landfall.View) (err error) {
			page, err = view.Mails(ctx, query)
			return err
		})
		if err != nil {
			return err
		}
		for _, mail := range page {
			if err := each(mail); err != nil {
				return err
			}
			query.After = mail.ID
		}
		if left -= len(page); len(page) < query.Limit {
			return nil
		}
	}
	return nil
}

// ShowMail returns a mail by its number or by the Message-ID of its message,
// which is what a bounce contains.
func (o *Operator) ShowMail(ctx context.Context, name string) (landfall.MailRecord, error) {
	var found landfall.MailRecord
	err := o.view(ctx, "mail.show", func(view landfall.View) (err error) {
		found, err = findMail(ctx, view, name)
		return err
	})
	return found, err
}

// findMail accepts 17 and <17.a-7k3m9q2b@example.com>.
func findMail(ctx context.Context, view landfall.MailReader, name string) (landfall.MailRecord, error) {
	local, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(name), "<>"), "@")
	digits, account, named := strings.Cut(local, ".")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id <= 0 {
		return landfall.MailRecord{}, invalid("mail", rules.CodeInvalidType,
			"Give the number of a mail, as mail list shows it, or its Message-ID.")
	}
	found, err := view.Mail(ctx, id)
	// Another database may have another mail with this number. A Message-ID also
	// names the account, which tells the two apart.
	if err == nil && named && !strings.EqualFold(account, found.AccountNumber) {
		err = landfall.ErrNotFound
	}
	return found, replaceError(err, landfall.ErrNotFound, notFound(landfall.CodeNotFound, "There is no mail %q. List the mails with: mail list", name))
}

// mailDecision is something an operator can do with a mail.
type mailDecision struct {
	action string
	state  landfall.MailState
	from   []landfall.MailState
	not    string // why it is refused in any other state
}

// The three decisions. None leads from sent to queued: a sent mail can be sent
// again only after an operator records that it bounced.
var (
	retrying = mailDecision{"mail.retry", landfall.MailQueued,
		[]landfall.MailState{landfall.MailQueued, landfall.MailRefused, landfall.MailWithdrawn, landfall.MailBounced},
		"it was sent, and no customer gets the same mail twice; if it bounced, record that first with: mail bounced"}
	withdrawing = mailDecision{"mail.withdraw", landfall.MailWithdrawn,
		[]landfall.MailState{landfall.MailQueued, landfall.MailRefused},
		"only a queued or refused mail can be withdrawn"}
	bouncing = mailDecision{"mail.bounced", landfall.MailBounced,
		[]landfall.MailState{landfall.MailSent, landfall.MailBounced},
		"only a mail that was sent can bounce"}
)

// RetryMail queues a mail again, due at once and with all its attempts.
func (o *Operator) RetryMail(ctx context.Context, name string) (landfall.MailRecord, error) {
	return o.decide(ctx, retrying, name, "")
}

// WithdrawMail prevents a mail from being sent.
func (o *Operator) WithdrawMail(ctx context.Context, name, reason string) (landfall.MailRecord, error) {
	return o.decide(ctx, withdrawing, name, reason)
}

// BouncedMail records that a mail bounced.
func (o *Operator) BouncedMail(ctx context.Context, name, reason string) (landfall.MailRecord, error) {
	return o.decide(ctx, bouncing, name, reason)
}

// decide changes one mail, or says why it cannot.
func (o *Operator) decide(ctx context.Context, wanted mailDecision, name, reason string) (landfall.MailRecord, error) {
	if err := checkReason(reason); err != nil {
		return landfall.MailRecord{}, err
	}
	found, err := o.ShowMail(ctx, name)
	if err != nil {
		return found, err
	}
	err = o.change(ctx, wanted.action, auditSubject(found.Key), func(tx landfall.Tx) (string, error) {
		// Read the mail again under the lock: a sender may have claimed it in
		// the meantime.
		if found, err = tx.Mail(ctx, found.ID); err != nil {
			return "", err
		}
		if !slices.Contains(wanted.from, found.State) {
			not := wanted.not
			if found.State == landfall.MailSending {
				not = "it is being sent right now; try again in a few minutes"
			}
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Mail %d is %s: %s.", found.ID, found.State, not))
		}
		if wanted.state == landfall.MailQueued && found.AccountNumber == "" {
			return "", landfall.Refuse(landfall.CodeValidationFailed,
				fmt.Sprintf("The account of mail %d was undone, so the mail is not sent.", found.ID))
		}
		if wanted.state == landfall.MailQueued && found.RecipientRemoved {
			return "", landfall.Refuse(landfall.CodeValidationFailed,
				fmt.Sprintf("The recipient of mail %d was purged or erased.", found.ID))
		}
		if err := tx.SetMailState(ctx, found.ID, wanted.state, reason); err != nil {
			return "", err
		}
		detail := fmt.Sprintf("mail %d, was %s", found.ID, found.State)
		if reason != "" {
			detail += ": " + reason
		}
		found.State = wanted.state
		return detail, nil
	})
	return found, err
}

// RetryMails queues every refused, withdrawn or bounced mail of a supplier
// again, and returns how many there were.
func (o *Operator) RetryMails(ctx context.Context, supplier string, state landfall.MailState) (int, error) {
	if state != landfall.MailRefused && state != landfall.MailBounced && state != landfall.MailWithdrawn {
		return 0, invalid("state", rules.CodeInvalidChoice, "Mails that were refused, withdrawn or bounced can be tried again, not those that are %s.", string(state))
	}
	return o.decideAll(ctx, retrying, supplier, state, "", func(landfall.MailRecord) bool { return true })
}

// RetryRefusedMails queues the refused mails of a supplier with one cause again, and
// returns how many there were.
func (o *Operator) RetryRefusedMails(ctx context.Context, supplier, cause string) (int, error) {
	return o.decideAll(ctx, retrying, supplier, landfall.MailRefused, "", func(mail landfall.MailRecord) bool { return mail.Cause() == cause })
}

// MailCause is how many refused mails of a supplier have a cause.
type MailCause struct {
	Supplier, Cause string
	Count           int
}

// maxCountedMails is how many refused mails are grouped by cause.
const maxCountedMails = 10_000

// MailCauses groups the refused mails of a supplier, or of all with "", by cause, the
// most frequent first. It looks at the oldest maxCountedMails and reports whether
// there are more.
func (o *Operator) MailCauses(ctx context.Context, supplier string) (causes []MailCause, more bool, err error) {
	counts, seen := map[MailCause]int{}, 0
	err = o.Mails(ctx, landfall.MailQuery{Supplier: supplier, State: landfall.MailRefused, Limit: maxCountedMails}, func(mail landfall.MailRecord) error {
		counts[MailCause{Supplier: mail.Key.Supplier, Cause: mail.Cause()}]++
		seen++
		return nil
	})
	for cause, count := range counts {
		cause.Count = count
		causes = append(causes, cause)
	}
	slices.SortFunc(causes, func(a, b MailCause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Cause, b.Cause))
	})
	return causes, seen == maxCountedMails, err
}

// WithdrawMails prevents every waiting mail of a supplier from being sent.
func (o *Operator) WithdrawMails(ctx context.Context, supplier, reason string) (int, error) {
	return o.decideAll(ctx, withdrawing, supplier, landfall.MailQueued, reason, func(landfall.MailRecord) bool { return true })
}

// decideAll changes all mails of a supplier in a state that match, one page per
// transaction. It can be repeated after an interruption.
func (o *Operator) decideAll(ctx context.Context, wanted mailDecision, supplier string, state landfall.MailState, reason string,
	matches func(landfall.MailRecord) bool,
) (int, error) {
	if err := checkReason(reason); err != nil {
		return 0, err
	}
	if _, err := o.ShowSupplier(ctx, supplier); err != nil {
		return 0, err
	}
	noMore := errors.New("all were processed")
	for count, after := 0, int64(0); ; {
		done, last := 0, int64(0)
		err := o.change(ctx, wanted.action, supplier, func(tx landfall.Tx) (string, error) {
			// The transaction may run more than once. Start counting from zero
			// each time.
			done, last = 0, 0
			page, err := tx.Mails(ctx, landfall.MailQuery{Supplier: supplier, State: state, After: after, Limit: mailPage})
			if err != nil {
				return "", err
			}
			if len(page) == 0 {
				return "", noMore // and write no audit entry
			}
			for _, mail := range page {
				last = mail.ID
				if !matches(mail) {
					continue
				}
				// A sender may have claimed it by now, or it may be gone with
				// its account.
				found, err := tx.Mail(ctx, mail.ID)
				if errors.Is(err, landfall.ErrNotFound) ||
					err == nil && (found.State != state || found.AccountNumber == "" || found.RecipientRemoved && wanted.state == landfall.MailQueued) {
					continue
				}
				if err == nil {
					err = tx.SetMailState(ctx, mail.ID, wanted.state, reason)
				}
				if err != nil {
					return "", err
				}
				done++
			}
			return fmt.Sprintf("%d mails, were %s", done, state), nil
		})
		if errors.Is(err, noMore) {
			return count, nil
		}
		if err != nil {
			return count, err
		}
		// The next page starts after the last mail read, changed or not. Mails
		// that keep their state would otherwise be read again for ever.
		count, after = count+done, last
	}
}
