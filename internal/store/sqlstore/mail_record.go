package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"strconv"
	"time"

	"landfall"
)

// mailRecord is the query behind every read of a mail.
const mailRecord = `SELECT m.id, m.supplier, p.external, p.account_number, m.account_id, m.kind, m.recipient, m.language, m.state,
	m.queued_at, m.due_at, m.settled_at, m.attempts, m.uncertain, m.reply, m.purged_at IS NOT NULL
	FROM mail m JOIN process p ON p.id = m.account_id`

// mails returns the mails that a condition selects.
func (v *view) mails(ctx context.Context, which string, args ...any) ([]landfall.MailRecord, error) {
	return collect(ctx, v.txSession, func(scan scanner, mail *landfall.MailRecord) error {
		var queued, account int64
		var due, settled sql.NullInt64
		err := scan(&mail.ID, &mail.Key.Supplier, &mail.Key.External, textInto{&mail.AccountNumber}, &account, &mail.Kind,
			v.sealer.scan("mail", &account, (*string)(&mail.Kind)).text("recipient", &mail.To), &mail.Language,
			&mail.State, &queued, &due, &settled, &mail.Attempts, &mail.Uncertain,
			v.sealer.scan("mail", &mail.ID).text("reply", &mail.Reply), &mail.RecipientRemoved)
		mail.QueuedAt, mail.DueAt, mail.SettledAt = moment(queued), instant(due), instant(settled)
		return err
	}, mailRecord+which, args...)
}

// Mail returns the mail with an ID.
func (v *view) Mail(ctx context.Context, id int64) (landfall.MailRecord, error) {
	found, err := v.mails(ctx, ` WHERE m.id = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Mail locks the mail with an ID and returns it.
func (t *tx) Mail(ctx context.Context, id int64) (landfall.MailRecord, error) {
	if err := t.lock(ctx, `SELECT 1 FROM mail held WHERE held.id = $1 {for_update}`, id); err != nil {
		return landfall.MailRecord{}, err
	}
	return t.view.Mail(ctx, id)
}

// Mails returns a page of mails.
func (v *view) Mails(ctx context.Context, query landfall.MailQuery) ([]landfall.MailRecord, error) {
	which, args := mailPage(query)
	return v.mails(ctx, which, args...)
}

// mailPage returns the condition for a query, with its arguments.
func mailPage(query landfall.MailQuery) (which string, args []any) {
	order := ` ORDER BY m.id LIMIT $2`
	which, args = ` WHERE m.id > $1`, []any{query.After, int64(query.Limit)}
	if query.Newest {
		which, order = ` WHERE m.id < $1`, ` ORDER BY m.id DESC LIMIT $2`
		if query.After == 0 {
			args[0] = int64(math.MaxInt64)
		}
	}
	and := func(condition, value string) {
		args = append(args, value)
		which += condition + strconv.Itoa(len(args))
	}
	if query.State != "" {
		and(` AND m.state = $`, string(query.State))
	}
	if query.Supplier != "" {
		and(` AND m.supplier = $`, query.Supplier)
	}
	for _, supplier := range query.Except {
		and(` AND m.supplier <> $`, supplier)
	}
	return which + order, args
}

// MailsOf returns the mails of one account.
func (v *view) MailsOf(ctx context.Context, key landfall.Key) ([]landfall.MailRecord, error) {
	return v.mails(ctx, ` JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2 ORDER BY m.id`,
		key.Supplier, key.External)
}

// waitingMails counts in an index that contains only unsettled mails.
const waitingMails = `SELECT count(*), min(queued_at) FROM
	(SELECT queued_at FROM mail WHERE due_at IS NOT NULL LIMIT $1) AS waiting`

// MailsWaiting counts the mails that are not settled, up to a limit.
func (v *view) MailsWaiting(ctx context.Context, most int) (int, time.Time, error) {
	var count int64
	var since sql.NullInt64
	err := v.one(ctx, waitingMails, []any{int64(most)}, []any{&count, &since})
	return int(count), instant(since), err
}

// MailSenderUntil returns the time until which a server has announced that it
// sends mail.
func (v *view) MailSenderUntil(ctx context.Context) (time.Time, error) {
	var until int64
	err := v.one(ctx, `SELECT open_until FROM mail_sender WHERE id = 1`, nil, []any{&until})
	return moment(until), err
}

// AnnounceMailSender records that a server can send mail.
func (t *tx) AnnounceMailSender(ctx context.Context, length time.Duration) error {
	text, args := `UPDATE mail_sender SET open_until = {now} + $1 WHERE id = 1 AND open_until < {now} + $1`, []any{length.Microseconds()}
	if length == 0 {
		text, args = `UPDATE mail_sender SET open_until = 0 WHERE id = 1`, nil
	}
	_, err := t.exec(ctx, text, args...)
	return err
}

// SetMailState sets the state of a mail that is not being sent.
func (t *tx) SetMailState(ctx context.Context, id int64, state landfall.MailState, reason string) error {
	found, err := t.Mail(ctx, id)
	if err != nil {
		return err
	}
	if found.State == landfall.MailSending {
		return landfall.ErrFenced
	}
	reason = t.sealer.sealText(replyLocation, reason, id)
	if state == landfall.MailQueued {
		_, err = t.exec(ctx, `UPDATE mail SET state = 'queued', due_at = {now}, settled_at = NULL, attempts = 0, reply = $2 WHERE id = $1`,
			id, reason)
		return err
	}
	_, err = t.exec(ctx, `UPDATE mail SET state = $2, due_at = NULL, settled_at = {now}, reply = $3 WHERE id = $1`,
		id, string(state), reason)
	return err
}

// RetractMails deletes the queued mails of an account, unless one of its mails
// may have arrived.
func (t *tx) RetractMails(ctx context.Context, key landfall.Key) (told bool, err error) {
	const own = ` WHERE account_id = (SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2)`
	if err := t.lock(ctx, `SELECT 1 FROM mail held`+own+` {for_update}`, key.Supplier, key.External); err != nil {
		return false, err
	}
	mails, err := t.MailsOf(ctx, key)
	if err != nil {
		return false, err
	}
	for _, mail := range mails {
		if mail.MayHaveArrived() {
			return true, nil
		}
	}
	_, err = t.exec(ctx, `DELETE FROM mail`+own+` AND state = 'queued'`, key.Supplier, key.External)
	return false, err
}
