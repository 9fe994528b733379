package app

import (
	"context"
	"strings"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/outbound/mail"
)

// openMail creates the mail sender. Without a mail server in the settings there is
// none, and the log names the suppliers whose customers should get mails.
func (a *App) openMail(ctx context.Context) error {
	settings := &a.settings.Mail
	composer, err := settings.Composer() // checks the templates even when no mail is sent
	if err != nil {
		return SettingError{err}
	}
	if settings.Server == "" {
		a.warnAboutMissingMail(ctx)
		return nil
	}
	client, err := settings.client()
	if err != nil {
		return SettingError{err}
	}
	a.mailClient = client
	a.mail = mail.NewSender(mail.SenderOptions{
		Store: a.store, Composer: composer, Client: client, Timeout: settings.Timeout,
		PerMinute: settings.PerMinute, Concurrent: settings.Connections, Log: a.log.Logger,
	})
	return nil
}

// warnAboutMissingMail logs which suppliers have customer e-mails turned on although
// this server sends none. With an embedded database no other server sends mail
// either, so it also withdraws the record that mail is sent. An error does not
// prevent the start.
func (a *App) warnAboutMissingMail(ctx context.Context) {
	var affected []string
	err := a.store.Update(ctx, func(tx landfall.Tx) error {
		affected = nil // the transaction may be retried
		suppliers, err := tx.Suppliers(ctx)
		for _, supplier := range suppliers {
			if supplier.SendCustomerEmails {
				affected = append(affected, supplier.Code)
			}
		}
		if err == nil && a.settings.embedded() {
			err = tx.AnnounceMailSender(ctx, 0)
		}
		return err
	})
	if err != nil {
		a.log.Warn("cannot check which suppliers have customer e-mails turned on", "error", err)
	}
	if len(affected) > 0 {
		a.log.Error("customer e-mails are turned on, but this server sends none; they stay queued until a server has the setting smtp-server",
			"suppliers", strings.Join(affected, ", "))
	}
}

// mailReadings returns the metrics about e-mail.
func (a *App) mailReadings() []httpapi.FuncMetric {
	// Without a mail server there are no metrics: one that is shown as down would raise
	// an alert.
	if a.mail == nil {
		return nil
	}
	stats := &a.mail.Stats
	total := func(name, help string, read func() int64) httpapi.FuncMetric {
		return httpapi.FuncMetric{Name: name, Help: help, Counts: true, Read: func() float64 { return float64(read()) }}
	}
	return []httpapi.FuncMetric{
		total("landfall_mails_sent_total", "E-mails that the mail server accepted.", stats.Sent.Load),
		total("landfall_mails_refused_total", "E-mails that were refused or given up.", stats.Refused.Load),
		total("landfall_mails_put_off_total", "Attempts that the mail server deferred.", stats.Deferred.Load),
		total("landfall_mails_unanswered_total", "Attempts after which it is unknown whether the mail server accepted the e-mail.", stats.Unanswered.Load),
		total("landfall_mail_server_troubles_total", "Times the mail server could not be used.", stats.ServerFailures.Load),
		{Name: "landfall_mail_server_up", Help: "1 if the last use of the mail server succeeded.", Read: func() float64 {
			if a.mail.Healthy() {
				return 1
			}
			return 0
		}},
		{Name: "landfall_mails_waiting", Help: "E-mails of all replicas that are queued, counted up to 10000.",
			Read: func() float64 { return float64(stats.Waiting.Load()) }},
		{Name: "landfall_mails_oldest_seconds", Help: "How long the oldest of them has been waiting.",
			Read: func() float64 { return stats.OldestAge().Seconds() }},
	}
}
