package app

import (
	"context"
	"strings"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/outbound/mail"
)

// openMail makes the room that sends mails, or none when the settings name no
// mail server, and speaks up about suppliers whose customers wait for one.
func (a *App) openMail(ctx context.Context) error {
	settings := &a.settings.Mail
	writer, err := settings.Writer() // templates are tried even when nobody sends
	if err != nil {
		return SettingError{err}
	}
	if settings.Server == "" {
		a.warnOfSilence(ctx)
		return nil
	}
	relay, err := settings.relay()
	if err != nil {
		return SettingError{err}
	}
	a.mail = mail.New(mail.Options{
		Store: a.store, Writer: writer, Relay: relay, Timeout: settings.Timeout, Pace: settings.Pace, AtOnce: settings.AtOnce, Log: a.log.Logger,
	})
	return nil
}

// warnOfSilence names the suppliers that promise mails which nobody sends, and
// on a database that this server has for itself takes back that mail is sent.
// Neither keeps anybody from starting.
func (a *App) warnOfSilence(ctx context.Context) {
	var silent []string
	err := a.store.Update(ctx, func(tx landfall.Tx) error {
		// A transaction may be run again, and would name them twice.
		silent = nil
		suppliers, err := tx.Suppliers(ctx)
		for _, supplier := range suppliers {
			if supplier.SendCustomerEmails {
				silent = append(silent, supplier.Code)
			}
		}
		if err == nil && a.settings.embedded() {
			err = tx.PromiseMail(ctx, 0)
		}
		return err
	})
	if err != nil {
		a.log.Warn("which suppliers want mails sent could not be found out", "error", err)
	}
	if len(silent) > 0 {
		a.log.Error("customers of these suppliers are to get e-mails, and this server sends none: they wait until one has the setting smtp-server",
			"suppliers", strings.Join(silent, ", "))
	}
}

// mailReadings are figures about e-mail.
func (a *App) mailReadings() []httpapi.Reading {
	// Where no mail is sent there are no figures about it: a mail server that is
	// shown as down would raise an alarm about something that nobody has.
	if a.mail == nil {
		return nil
	}
	figures := &a.mail.Figures
	total := func(name, help string, read func() int64) httpapi.Reading {
		return httpapi.Reading{Name: name, Help: help, Counts: true, Read: func() float64 { return float64(read()) }}
	}
	return []httpapi.Reading{
		total("landfall_mails_sent_total", "E-mails that the mail server took.", figures.Sent.Load),
		total("landfall_mails_refused_total", "E-mails that were refused for good or given up.", figures.Refused.Load),
		total("landfall_mails_put_off_total", "Attempts that the mail server put off.", figures.PutOff.Load),
		total("landfall_mails_unanswered_total", "Attempts of which nobody knows whether the mail server took the e-mail.", figures.Unanswered.Load),
		total("landfall_mail_server_troubles_total", "Times the mail server could not be used at all.", figures.Troubles.Load),
		{Name: "landfall_mail_server_up", Help: "1 when the mail server could be used the last time.", Read: func() float64 {
			if a.mail.Healthy() {
				return 1
			}
			return 0
		}},
		{Name: "landfall_mails_waiting", Help: "E-mails of all replicas that wait, counted up to 10000.",
			Read: func() float64 { return float64(figures.Waiting.Load()) }},
		{Name: "landfall_mails_oldest_seconds", Help: "How long the oldest of them has been waiting.",
			Read: func() float64 { return figures.Oldest().Seconds() }},
	}
}
