package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/outbound/letter"
	"landfall/internal/outbound/smtp"
)

// send makes one attempt and keeps what became of it.
func (r *Room) send(ctx context.Context, mail landfall.OutgoingMail) {
	defer r.done(mail)
	// The end of the program does not cut a message short at once: half a
	// message helps nobody, and one without an answer may come twice.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.attempt())
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(parting, cancel) })
	defer stop()
	result := r.try(limited, mail)
	result.ID, result.Token = mail.ID, mail.Token
	r.keep(ctx, mail, result)
}

// try writes the letter and hands it over.
func (r *Room) try(ctx context.Context, mail landfall.OutgoingMail) landfall.MailResult {
	// An undo or an erasure came between the creation and this mail; its words would
	// be about nobody.
	if mail.AccountNumber == "" {
		return refused("the account is gone")
	}
	written, err := r.Writer.Write(mail)
	if errors.Is(err, letter.ErrNoAddress) {
		return refused(err.Error())
	}
	if err != nil {
		// Templates were tried at the start, so this is rare, and the operator
		// can mend it. Nothing here repeats what a customer sent.
		r.Log.Error("a mail cannot be written", "mail", mail.ID, "supplier", mail.Key.Supplier, "error", err)
		return r.putOff(mail, "the letter cannot be written: "+err.Error(), false)
	}
	words, err := r.lines.send(ctx, written.From, written.To, written.Message)
	if err == nil {
		r.health.recover()
		return landfall.MailResult{State: landfall.MailSent, Reply: words}
	}
	var failure *smtp.Failure
	if !errors.As(err, &failure) {
		failure = &smtp.Failure{Stage: smtp.Connecting, Cause: err}
	}
	reply := fmt.Sprintf("%d %s", failure.Code, failure.Text)
	if failure.Code == 0 {
		reply = failure.Error()
	}
	switch failure.Verdict() {
	case smtp.Refused:
		// A server that refuses is a server that answers: the others need not wait.
		r.health.recover()
		return refused(reply)
	case smtp.PutOff:
		r.health.recover()
		return r.putOff(mail, reply, false)
	case smtp.Unanswered:
		return r.putOff(mail, reply, true)
	default:
		return r.trouble(failure)
	}
}

func refused(reply string) landfall.MailResult {
	return landfall.MailResult{State: landfall.MailRefused, Attempted: true, Reply: reply}
}

// putOff says when a mail is tried again, or gives it up.
func (r *Room) putOff(mail landfall.OutgoingMail, reply string, uncertain bool) landfall.MailResult {
	result := landfall.MailResult{State: landfall.MailQueued, Attempted: true, Uncertain: uncertain, Reply: reply}
	most := mostAttempts
	// Twice without an answer is no accident any more, and each time the customer may
	// have got it.
	if uncertain && mail.Uncertain {
		most = mostUnanswered
	}
	if attempts := mail.Attempts + 1; attempts >= most {
		result.State, result.Reply = landfall.MailRefused, fmt.Sprintf("given up after %d attempts: %s", attempts, reply)
		return result
	}
	result.Pause, _ = schedule.After(mail.Attempts+1, 0, 0)
	return result
}

// trouble is no mail's fault: it waits with all others until the server can be
// asked again, however long that takes.
func (r *Room) trouble(failure *smtp.Failure) landfall.MailResult {
	pause, first := r.health.fall()
	r.Figures.Troubles.Add(1)
	if first {
		r.Log.Error("the mail server needs the operator; mails wait", "error", failure)
	} else {
		r.Log.Warn("the mail server is still in trouble", "error", failure, "again_in", pause.Round(time.Second).String())
	}
	return landfall.MailResult{State: landfall.MailQueued, Pause: pause, Reply: failure.Error()}
}

// keep writes down what became of a mail. Until that is done nobody else sends
// it, and if it cannot be done the lease ends and it is sent again.
func (r *Room) keep(ctx context.Context, mail landfall.OutgoingMail, result landfall.MailResult) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), keeping)
	defer cancel()
	pause := 100 * time.Millisecond
	for {
		err := r.Store.SettleMail(limited, result)
		switch {
		case err == nil:
			r.tell(mail, result)
			return
		case errors.Is(err, landfall.ErrFenced):
			r.Log.Warn("somebody else settled a mail meanwhile", "mail", mail.ID)
			return
		case limited.Err() != nil || ctx.Err() != nil && pause > time.Second:
			r.Log.Error("what became of a mail could not be kept; it will be tried again under the same Message-ID",
				"mail", mail.ID, "state", string(result.State), "error", err)
			return
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// tell counts and logs. Addresses and the server's own words, which may hold
// one, stay in the database.
func (r *Room) tell(mail landfall.OutgoingMail, result landfall.MailResult) {
	about := []any{"mail", mail.ID, "supplier", mail.Key.Supplier, "attempts", mail.Attempts + 1}
	switch {
	case result.State == landfall.MailSent:
		r.Figures.Sent.Add(1)
		r.Log.Debug("mail sent", about...)
	case result.State == landfall.MailRefused:
		r.Figures.Refused.Add(1)
		r.Log.Warn("mail refused; see it with: landfall mail show", about...)
	case result.Uncertain:
		r.Figures.Unanswered.Add(1)
		r.Log.Warn("the mail server took a mail without an answer; it is sent again", about...)
	case result.Attempted:
		r.Figures.PutOff.Add(1)
		r.Log.Info("mail put off", append(about, "again_in", result.Pause.Round(time.Second).String())...)
	}
}
