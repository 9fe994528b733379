package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/console"
	"landfall/internal/lib/limits"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
)

// openConsole creates the console. It has no privileges of its own: every
// signed-in operator uses the operator commands in their own name.
func (a *App) openConsole(service *intake.Service) error {
	provider, err := a.settings.Provider.signInProvider()
	if err != nil {
		return err
	}
	composer, err := a.settings.Mail.Composer()
	if err != nil {
		return err
	}
	var tell func(ctx context.Context, address, subject, text string) error
	if a.mailClient != nil {
		tell = func(ctx context.Context, address, subject, text string) error {
			message, err := composer.Notice(address, subject, text, time.Now())
			if err != nil {
				return err
			}
			session, err := a.mailClient.Connect(ctx)
			if err != nil {
				return err
			}
			defer session.Close()
			_, err = session.Send(ctx, message.From, message.To, message.Raw)
			return err
		}
	}
	a.console = console.New(console.Options{
		OperatorFor: func(actor string) *operate.Operator {
			return operate.New(a.store, operate.Options{
				Actor: actor, Rules: contract.RuleCodes(), SecretVariables: a.settings.VendorSecrets, SendsMail: a.settings.Mail.Server != "", Sender: a.sender, Targets: a.targets,
				Verifier: a.vendors,
			})
		},
		Intake:        service,
		Sessions:      a.sessions,
		Files:         a.files,
		Composer:      composer,
		Tell:          tell,
		Logger:        a.log.Logger,
		ClientAddress: a.settings.Proxies.client,
		Encrypted:     a.settings.Proxies.encrypted,
		KnownProxy:    a.settings.Proxies.forwarded,
		BaseURL:       a.settings.BaseURL,
		Shutdown:      a.shutdown,
		WakeRuns:      func() { a.runs.Wake() },
		Health:        a.health,
		VendorHealth:  a.vendors.Health,
		Provider:      provider,
	})
	return nil
}

// health returns the items of the health page.
func (a *App) health(ctx context.Context) []console.HealthItem {
	// Without the database no other figure would be current, so only this is
	// shown.
	if err := a.store.Ping(ctx); err != nil {
		return []console.HealthItem{{Group: "Database", Name: "writing", State: "away", Help: "The database does not accept writes. See the log."}}
	}
	complete, err := a.logWatcher.CompleteUpTo(ctx)
	if err != nil {
		return []console.HealthItem{{Group: "Database", Name: "reading", State: "away", Help: "The database does not respond. See the log."}}
	}
	found, err := operate.New(a.store, operate.Options{Actor: "service"}).Health(ctx, complete)
	if err != nil {
		return []console.HealthItem{{Group: "Database", Name: "reading", State: "away", Help: "The database does not respond. See the log."}}
	}
	signs := []console.HealthItem{
		{Group: "Database", Name: "writing", State: "ready", Value: a.settings.DatabaseName()},
		{Group: "Database", Name: "answered", Value: fmt.Sprintf("in %.1f ms", float64(found.Answered.Microseconds())/1000), Help: "the figures of this page, from one snapshot"},
	}
	figures := a.runs.Figures()
	signs = append(signs,
		console.HealthItem{Group: "Queue", Name: "live runs", Value: strconv.Itoa(len(found.Live)), Help: "waiting, running or paused"},
		console.HealthItem{Group: "Queue", Name: "workers busy", Value: strconv.FormatInt(figures.Busy, 10), Help: "of this replica, with accounts of runs"},
		console.HealthItem{Group: "Deliveries", Name: "webhooks active", Value: strconv.Itoa(found.Webhooks.Active)},
		console.HealthItem{Group: "Deliveries", Name: "webhooks failing", Value: strconv.Itoa(found.Webhooks.Failing), State: trouble(found.Webhooks.Failing), Help: "their receivers fail; deliveries wait"},
		console.HealthItem{Group: "Deliveries", Name: "events waiting", Value: strconv.Itoa(found.Webhooks.Waiting + found.Undelivered), Help: "behind failing webhooks, or being retried"},
		console.HealthItem{Group: "Deliveries", Name: "events failed permanently", Value: strconv.Itoa(found.Webhooks.Dead), State: trouble(found.Webhooks.Dead), Help: "can be retried on the page of their webhook"},
		console.HealthItem{Group: "Deliveries", Name: "mails waiting", Value: strconv.Itoa(found.Mails), Help: "to customers, queued or being sent"},
	)
	return signs
}

// trouble returns the state of a count that should be zero.
func trouble(count int) string {
	if count > 0 {
		return "failing"
	}
	return "good"
}

// beatEvery is how often a server sends a heartbeat and records the progress of
// runs.
const beatEvery = limits.Heartbeat

// newReplica describes this server. The id is new for every start: two servers on one
// host differ, and so does a restarted server.
func newReplica(version string) landfall.Replica {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return landfall.Replica{ID: rand.Text(), Host: host, Version: version}
}

// doing says in a few words what this server works on.
func (a *App) doing() string {
	switch busy := a.runs.Figures().Busy; {
	case a.draining.Load():
		return "shutting down"
	case busy > 0:
		return fmt.Sprintf("serving, and %d workers on runs", busy)
	}
	return "serving"
}

// beat sends heartbeats of this server until the context ends. A lost one does no
// harm, because the next one follows.
func (a *App) beat(ctx context.Context) {
	self := a.self
	operator := operate.New(a.store, operate.Options{Actor: "service"})
	for {
		self.Doing = a.doing()
		if err := operator.Heartbeat(ctx, self, beatEvery/2); err != nil && ctx.Err() == nil {
			a.log.Debug("cannot record that this server is running", "error", err)
		}
		select {
		case <-time.After(beatEvery):
		case <-ctx.Done():
			// A server that is gone must not delay a change of the encryption key.
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.LastFlush)
			defer cancel()
			if err := operator.Farewell(last, self); err != nil {
				a.log.Debug("this server could not report its end", "error", err)
			}
			return
		}
	}
}
