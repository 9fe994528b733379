package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"slices"
	"strings"
	"time"

	"landfall"
)

// sendableText selects the suppliers that may send mail and have some due. The
// clock is read in a subquery. Otherwise PostgreSQL would evaluate it for every
// row and could not use the index.
const sendableText = `SELECT s.code FROM supplier s
	WHERE s.send_customer_emails = $1 AND s.status <> 'Paused' AND EXISTS (
		SELECT 1 FROM mail m WHERE m.supplier = s.code AND m.due_at <= (SELECT {now}))`

// MailsDue reports whether any mail could be sent now.
func (s *Store) MailsDue(ctx context.Context) (due bool, err error) {
	err = s.View(ctx, func(reader landfall.View) error {
		v := reader.(*view) //nolint:forcetypeassert // it is this store's
		return v.one(ctx, `SELECT EXISTS (`+sendableText+`)`, []any{true}, []any{&due})
	})
	return due, err
}

// ClaimMails claims mails for one sender. It locks the mail_sender row, so
// claims run one after the other and the rate limit applies to all replicas
// together.
func (s *Store) ClaimMails(ctx context.Context, request landfall.MailRequest) (landfall.MailBatch, error) {
	var supply landfall.MailBatch
	err := s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
		supply, err = t.takeMails(ctx, request)
		return err
	})
	if err != nil {
		return landfall.MailBatch{}, err
	}
	return supply, nil
}

// takeMails locks the one row that all replicas share, so that together they
// keep to one rate limit.
func (t *tx) takeMails(ctx context.Context, request landfall.MailRequest) (landfall.MailBatch, error) {
	var freeAt, now int64
	if err := t.one(ctx, `SELECT free_at, {now} FROM mail_sender held WHERE id = 1 {for_update}`, nil, []any{&freeAt, &now}); err != nil {
		return landfall.MailBatch{}, err
	}
	gap := time.Minute.Microseconds() / int64(request.PerMinute)
	// Unused capacity is kept for one second only, or for the gap between two
	// mails if that is longer. The limit is what a mail server can take at any
	// moment, so a backlog must not be sent in one burst.
	freeAt = min(max(freeAt, now-max(gap, time.Second.Microseconds())), now) // the clock may have been set back
	most := min(int64(request.Max), (now-freeAt)/gap)
	if most <= 0 {
		return landfall.MailBatch{Wait: time.Duration(freeAt+gap-now) * time.Microsecond}, nil
	}
	suppliers, err := t.suppliersWithDueMail(ctx, request.After)
	if err != nil {
		return landfall.MailBatch{}, err
	}
	room := func(code string) int64 {
		if request.PerSupplier == 0 {
			return most
		}
		return int64(request.PerSupplier - request.InFlight[code])
	}
	suppliers = slices.DeleteFunc(suppliers, func(code string) bool { return room(code) <= 0 })
	var supply landfall.MailBatch
	for i, supplier := range suppliers {
		// Each supplier gets a fair share of the remaining mails. The last ones
		// may get none this time: the next claim begins after the last supplier
		// served.
		left := most - int64(len(supply.Mails))
		if left <= 0 {
			break
		}
		share := (left + int64(len(suppliers)-i) - 1) / int64(len(suppliers)-i)
		taken, err := t.takeMailsOf(ctx, supplier, min(share, room(supplier)), request.Lease)
		if err != nil {
			return landfall.MailBatch{}, err
		}
		supply.Mails = append(supply.Mails, taken...)
	}
	_, err = t.exec(ctx, `UPDATE mail_sender SET free_at = $1 WHERE id = 1`, freeAt+gap*int64(len(supply.Mails)))
	return supply, err
}

// suppliersWithDueMail lists the suppliers with due mails, beginning after the
// last one served.
func (t *tx) suppliersWithDueMail(ctx context.Context, last string) ([]string, error) {
	return collect(ctx, t.txSession, func(scan scanner, code *string) error { return scan(code) },
		sendableText+` ORDER BY s.code <= $2, s.code`, true, last)
}

// dueMails selects the due mails of a supplier, the longest due first.
const dueMails = `SELECT held.id, p.external, p.account_number, held.account_id, held.kind, held.recipient, held.language, held.state,
		held.queued_at, held.attempts, held.uncertain, s.name, s.time_zone, p.account_created_at
	FROM mail held JOIN process p ON p.id = held.account_id JOIN supplier s ON s.id = p.supplier_id
	WHERE held.supplier = $1 AND held.due_at <= (SELECT {now}) ORDER BY held.due_at, held.id LIMIT $2 {for_update}`

// takeMailsOf claims mails of one supplier. A mail still in the state sending
// was abandoned by its sender, so it is uncertain whether it was sent.
func (t *tx) takeMailsOf(ctx context.Context, supplier string, most int64, lease time.Duration) ([]landfall.OutgoingMail, error) {
	mails, err := collect(ctx, t.txSession, func(scan scanner, mail *landfall.OutgoingMail) error {
		var queued, account int64
		var created sql.NullInt64
		err := scan(&mail.ID, &mail.Key.External, textInto{&mail.AccountNumber}, &account, &mail.Kind,
			t.sealer.scan("mail", &account, (*string)(&mail.Kind)).text("recipient", &mail.To), &mail.Language, &mail.State,
			&queued, &mail.Attempts, &mail.Uncertain, &mail.SupplierName, &mail.TimeZone, &created)
		mail.Key.Supplier, mail.QueuedAt, mail.CreatedAt = supplier, moment(queued), instant(created)
		return err
	}, dueMails, supplier, most)
	if err != nil {
		return nil, err
	}
	for i := range mails {
		mail := &mails[i]
		mail.Token = rand.Text()
		mail.Uncertain = mail.Uncertain || mail.State == landfall.MailSending
		mail.State = landfall.MailSending
		if _, err := t.exec(ctx, `UPDATE mail SET state = 'sending', token = $2, due_at = {now} + $3, uncertain = $4 WHERE id = $1`,
			mail.ID, mail.Token, lease.Microseconds(), mail.Uncertain); err != nil {
			return nil, err
		}
		if mail.Customers, err = t.addressees(ctx, mail.ID, mail.To); err != nil {
			return nil, err
		}
	}
	return mails, nil
}

// addressees returns the customers of a mail's account that have its address.
// Case is ignored.
func (v *view) addressees(ctx context.Context, id int64, address string) ([]landfall.Customer, error) {
	all, err := collect(ctx, v.txSession, func(scan scanner, c *landfall.Customer) error {
		var account, ordinal int64
		person := v.sealer.scan("customer", &account, &ordinal)
		return scan(&account, &ordinal, person.text("title", &c.Title), person.text("given_name", &c.GivenName),
			person.text("family_name", &c.FamilyName), person.text("email", &c.Email))
	}, `SELECT c.account_id, c.ordinal, c.title, c.given_name, c.family_name, c.email FROM mail m JOIN customer c ON c.account_id = m.account_id
		WHERE m.id = $1 ORDER BY c.ordinal`, id)
	var found []landfall.Customer
	for _, customer := range all {
		if strings.EqualFold(customer.Email, address) {
			found = append(found, customer)
		}
	}
	return found, err
}

// SettleMail records the result of an attempt.
func (s *Store) SettleMail(ctx context.Context, result landfall.MailResult) error {
	attempt := 0
	if result.Attempted {
		attempt = 1
	}
	reply := s.sealer.sealText(replyLocation, result.Reply, result.ID)
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		switch result.State {
		case landfall.MailSent:
			// The mail was sent, even if another sender has claimed it since. The reply
			// may name the address, so it is dropped if the account was erased meanwhile.
			return orIfUnchanged(landfall.ErrFenced)(t.exec(ctx, `UPDATE mail SET state = 'sent', settled_at = {now}, due_at = NULL, token = NULL,
				attempts = attempts + 1, uncertain = FALSE, reply = CASE WHEN purged_at IS NULL THEN $2 ELSE '' END
				WHERE id = $1 AND state <> 'sent'`, result.ID, reply))
		case landfall.MailRefused:
			return orIfUnchanged(landfall.ErrFenced)(t.exec(ctx, `UPDATE mail SET state = 'refused', settled_at = {now}, due_at = NULL, token = NULL,
				attempts = attempts + $3, uncertain = (uncertain OR $4), reply = $5 WHERE id = $1 AND token = $2`,
				result.ID, result.Token, int64(attempt), result.Uncertain, reply))
		default:
			return orIfUnchanged(landfall.ErrFenced)(t.exec(ctx, `UPDATE mail SET state = 'queued', due_at = {now} + $3, token = NULL,
				attempts = attempts + $4, uncertain = (uncertain OR $5), reply = $6 WHERE id = $1 AND token = $2`,
				result.ID, result.Token, result.Pause.Microseconds(), int64(attempt), result.Uncertain, reply))
		}
	})
}
