package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// send makes one attempt and records the result.
func (s *Sender) send(ctx context.Context, mail landfall.OutgoingMail) {
	defer s.release(mail)
	// A shutdown does not interrupt a message at once: a message without a reply may
	// be sent twice.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.attemptTimeout())
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(limits.MailShutdown, cancel) })
	defer stop()
	result := s.attempt(limited, mail)
	result.ID, result.Token = mail.ID, mail.Token
	s.settle(ctx, mail, result)
}

// attempt composes the message and sends it.
func (s *Sender) attempt(ctx context.Context, mail landfall.OutgoingMail) landfall.MailResult {
	// The account was undone or erased after the mail was queued.
	if mail.AccountNumber == "" {
		return refused("the account no longer exists")
	}
	message, err := s.Composer.Compose(mail)
	if errors.Is(err, ErrBadAddress) {
		return refused(err.Error())
	}
	if err != nil {
		// Templates are tested at startup, so this is rare, and the operator can fix it.
		// The error contains no customer data.
		s.Log.Error("cannot compose mail", "mail", mail.ID, "supplier", mail.Key.Supplier, "error", err)
		return s.deferred(mail, "cannot compose the mail: "+err.Error(), false)
	}
	text, err := s.sessions.send(ctx, message.From, message.To, message.Raw)
	if err == nil {
		s.health.succeeded()
		return landfall.MailResult{State: landfall.MailSent, Reply: text}
	}
	var failure *SMTPError
	if !errors.As(err, &failure) {
		failure = &SMTPError{Stage: StageConnect, Cause: err}
	}
	detail := fmt.Sprintf("%d %s", failure.Code, failure.Text)
	if failure.Code == 0 {
		detail = failure.Error()
	}
	switch failure.Kind() {
	case Refused:
		// A server that refuses a message works: the other mails need not wait.
		s.health.succeeded()
		return refused(detail)
	case Deferred:
		s.health.succeeded()
		return s.deferred(mail, detail, false)
	case Unanswered:
		return s.deferred(mail, detail, true)
	default:
		return s.serverFailed(failure)
	}
}

func refused(detail string) landfall.MailResult {
	return landfall.MailResult{State: landfall.MailRefused, Attempted: true, Reply: detail}
}

// deferred schedules the next attempt, or gives up after too many.
func (s *Sender) deferred(mail landfall.OutgoingMail, detail string, uncertain bool) landfall.MailResult {
	result := landfall.MailResult{State: landfall.MailQueued, Attempted: true, Uncertain: uncertain, Reply: detail}
	limit := maxAttempts
	// Two attempts without a reply are no accident, and the customer may have got the
	// mail each time.
	if uncertain && mail.Uncertain {
		limit = maxUnanswered
	}
	if attempts := mail.Attempts + 1; attempts >= limit {
		result.State, result.Reply = landfall.MailRefused, fmt.Sprintf("given up after %d attempts: %s", attempts, detail)
		return result
	}
	result.Pause, _ = retries.After(mail.Attempts+1, 0, 0)
	return result
}

// serverFailed keeps the mail queued without counting the attempt, because the
// failure has nothing to do with this mail.
func (s *Sender) serverFailed(failure *SMTPError) landfall.MailResult {
	pause, first := s.health.failed()
	s.Stats.ServerFailures.Add(1)
	if first {
		s.Log.Error("cannot send mail through the mail server; mails stay queued", "error", failure)
	} else {
		s.Log.Warn("mail server still fails", "error", failure, "again_in", pause.Round(time.Second).String())
	}
	return landfall.MailResult{State: landfall.MailQueued, Pause: pause, Reply: failure.Error()}
}

// settle records the result. No other replica sends the mail until then. If the
// result cannot be recorded, the lease ends and the mail is sent again.
func (s *Sender) settle(ctx context.Context, mail landfall.OutgoingMail, result landfall.MailResult) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.MailRecord)
	defer cancel()
	pause := limits.RecordRetry
	for {
		err := s.Store.SettleMail(limited, result)
		switch {
		case err == nil:
			s.report(mail, result)
			return
		case errors.Is(err, landfall.ErrFenced):
			s.Log.Warn("the mail was settled meanwhile", "mail", mail.ID)
			return
		case limited.Err() != nil || ctx.Err() != nil && pause > time.Second:
			s.Log.Error("cannot record the result of a mail; it will be sent again with the same Message-ID",
				"mail", mail.ID, "state", string(result.State), "error", err)
			return
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
		}
		pause = min(2*pause, limits.RecordMaxRetry)
	}
}

// report counts and logs the result. It never logs addresses or the server's reply,
// which may contain one; both are in the database.
func (s *Sender) report(mail landfall.OutgoingMail, result landfall.MailResult) {
	attrs := []any{"mail", mail.ID, "supplier", mail.Key.Supplier, "attempts", mail.Attempts + 1}
	switch {
	case result.State == landfall.MailSent:
		s.Stats.Sent.Add(1)
		s.Log.Debug("mail sent", attrs...)
	case result.State == landfall.MailRefused:
		s.Stats.Refused.Add(1)
		s.Log.Warn("mail refused; see landfall mail show", attrs...)
	case result.Uncertain:
		s.Stats.Unanswered.Add(1)
		s.Log.Warn("mail server did not confirm a mail; it will be sent again", attrs...)
	case result.Attempted:
		s.Stats.Deferred.Add(1)
		s.Log.Info("mail deferred", append(attrs, "again_in", result.Pause.Round(time.Second).String())...)
	}
}
