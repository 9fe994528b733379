package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/bulk"
	"landfall/internal/api/contract"
	"landfall/internal/api/graphql"
	"landfall/internal/api/httpapi"
	"landfall/internal/console"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
	"landfall/internal/lib/telemetry"
	"landfall/internal/outbound/filestore"
	"landfall/internal/outbound/mail"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/outbound/target"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/audit"
	"landfall/internal/service/auth"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
	"landfall/internal/service/quota"
	"landfall/internal/service/run"
	"landfall/internal/service/upkeep"
	"landfall/internal/store/sqlstore"
)

// App is the server with everything wired together.
type App struct {
	settings   Settings
	version    string
	self       landfall.Replica
	log        *Log
	store      landfall.Store
	issuer     *auth.Issuer
	gate       *auth.Authenticator
	quota      *quota.Tracker
	logins     *logins
	signIns    *signIns
	vendors    *payvendor.Verifier
	mail       *mail.Sender // nil when no mail server is configured
	runs       *run.Runner
	logWatcher *webhook.LogWatcher
	sender     *webhook.Sender
	webhooks   *webhook.Dispatcher
	targets    *target.Sender
	deliveries *target.Dispatcher
	console    *console.Console // nil when off
	files      landfall.FileStore
	sessions   *auth.Sessions
	chainer    *audit.Chainer
	upkeep     *upkeep.Upkeep
	api        *httpapi.API
	draining   atomic.Bool
	shutdown   chan struct{} // closed when the shutdown starts
	main       *httpServer
	listening  atomic.Pointer[httpServer] // main, for metrics, which may be read before it is there
	ops        *httpServer                // nil when off
	intake     *intake.Service
	mailClient *mail.Client // nil like mail
	reloaded   reloadState
	// telemetry is nil when no collector is configured.
	telemetry *telemetry.Telemetry
}

// New opens the database, updates its schema and wires everything. It waits for an
// unavailable database as long as the settings say.
func New(ctx context.Context, settings Settings, version string, log *Log) (*App, error) {
	if err := settings.checkSecretFiles(); err != nil {
		return nil, err
	}
	defer extendStart()()
	// Before the database, so that an invalid setting is reported without a wait.
	files, err := filestore.Open(settings.Documents, filestore.Options{TimeLimit: settings.DocumentTimeout})
	if err != nil {
		return nil, SettingError{fmt.Errorf("setting documents: %w", err)}
	}
	self := newReplica(version)
	store, err := openStore(ctx, settings, self, log)
	if err != nil {
		return nil, err
	}
	source, err := EventSource(ctx, settings, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	sender, err := NewSender(settings, source, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	targets, err := NewTargetSender(settings)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	warnAboutDocumentRoots(ctx, store, log.Logger)
	// Otherwise the first phone number would wait for its tables to load.
	contract.WarmUp()
	app := &App{settings: settings, version: version, self: self, log: log, store: store, shutdown: make(chan struct{}), files: files,
		logWatcher: webhook.NewLogWatcher(store), sender: sender, targets: targets, logins: newLogins(log.Logger), signIns: newSignIns(log.Logger)}
	if err := app.openMail(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := app.openAudit(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	metrics := httpapi.NewMetrics(version, app.readings()...)
	app.logins.overQuota = metrics.CountQuotaRefusal
	metrics.Add(app.databaseMetrics()...)
	app.issuer = auth.NewIssuer(store, auth.Options{
		AccessLife: settings.AccessTokenLife, RefreshLife: settings.RefreshTokenLife, FamilyLife: settings.LoginLife,
		Watch: app.logins.watch,
	})
	app.sessions = auth.NewSessions(store, auth.SessionOptions{
		Idle: settings.ConsoleIdle, Length: settings.ConsoleSession, SecondFactor: settings.SecondFactor, Watch: app.signIns.watch,
	})
	app.quota = quota.New(store, time.Now, metrics.CountQuotaRefusal)
	app.gate = auth.NewAuthenticator(store, time.Now)
	app.vendors = payvendor.New(payvendor.Options{
		TimeLimit: settings.VendorTimeout, SecretVariables: settings.VendorSecrets, Alarm: app.alarm, Observe: metrics.ObserveVendor,
	})
	app.webhooks = webhook.NewDispatcher(store, webhook.DispatcherOptions{Sender: sender, Watcher: app.logWatcher, Log: log.Logger, Lease: settings.WebhookLease})
	app.deliveries = target.NewDispatcher(store, target.DispatcherOptions{Sender: targets, Log: log.Logger, Lease: settings.WebhookLease})
	interactive := new(admission.Activity)
	service := intake.New(store, intake.Options{
		Lease: settings.ClaimLease, ServiceLimit: settings.ConcurrencyLimit,
		Files: files, Verifier: app.vendors, Quota: app.quota, Watcher: app.logWatcher, MailDelay: settings.Mail.Delay,
	})
	app.intake, app.reloaded = service, newReloadState(settings)
	app.runs = run.New(store, service, run.Options{
		Logger: log.Logger, Lease: settings.ClaimLease, Interactive: interactive, Created: metrics.CountCreated,
	})
	var pages http.Handler
	if settings.Console {
		if err := app.openConsole(service); err != nil {
			return nil, errors.Join(SettingError{err}, store.Close())
		}
		pages = app.console
	}
	app.api = httpapi.New(httpapi.Options{
		Answers:       answer.New(service, app.runs, metrics.Count).WithSource(source),
		Authenticator: app.gate,
		Quota:         app.quota,
		Token: graphql.New(app.issuer, graphql.Options{
			Introspection: settings.Introspection, Log: log.Logger,
			Source: func(r *http.Request) string { return settings.Proxies.client(r).String() },
		}),
		Logger:         log.Logger,
		Interactive:    interactive,
		ClientAddress:  settings.Proxies.client,
		BaseURL:        settings.BaseURL,
		BodyLimit:      settings.MaxBody,
		RequestTimeout: requestTime,
		MaxInFlight:    settings.MaxRequests,
		BodyMemory:     settings.BodyMemory,
		Ready:          store.Ping,
		Draining:       app.draining.Load,
		Ending:         app.shutdown,
		Metrics:        metrics,
		Console:        pages,
		Schema:         service.SupplierSchema,
		Facts:          service.SupplierFacts,
		Spool:          bulk.Spool{Dir: settings.BulkSpool, MaxBytes: settings.BulkSpoolSize},
	})
	app.upkeep = upkeep.Start(store, log.Logger, func(ctx context.Context, pause func(context.Context, time.Duration) error, note func(landfall.Finding)) error {
		operator := operate.New(store, operate.Options{Actor: "service"})
		if err := operator.VerifyRecords(ctx, func(one landfall.Finding) error { note(one); return nil }, pause); err != nil {
			return err
		}
		result, err := audit.Verify(ctx, store, audit.Evidence{Pause: pause})
		if err == nil && result.Problem != "" {
			note(landfall.Finding{What: "the audit log is not intact: " + result.Problem})
		}
		return err
	})
	if err := app.startTelemetry(); err != nil {
		app.upkeep.Close()
		return nil, errors.Join(err, store.Close())
	}
	return app, nil
}

// readings returns the metrics of the process.
func (a *App) readings() []httpapi.FuncMetric {
	own := []httpapi.FuncMetric{
		{Name: "landfall_clock_jumps_total", Help: "Times this server noticed that the database's clock jumped by more than a minute.", Counts: true,
			Read: func() float64 { return float64(a.upkeep.ClockJumps()) }},
		{Name: "landfall_log_lines_lost_total", Help: "Log lines that could not be written.", Counts: true, Read: a.log.Lost},
		{Name: "landfall_connections", Help: "Connections that are open now.",
			Read: a.listenerMetric(func(d *limitListener) int64 { return int64(d.count()) })},
		{Name: "landfall_connections_refused_total", Help: "Connections refused because too many were open.", Counts: true,
			Read: a.listenerMetric(func(d *limitListener) int64 { return d.rejected.Load() })},
		{Name: "landfall_accept_failures_total", Help: "Times accepting a connection failed because file descriptors had run out.", Counts: true,
			Read: a.listenerMetric(func(d *limitListener) int64 { return d.acceptFailures.Load() })},
		{Name: "landfall_tls_certificate_expiry_timestamp_seconds", Help: "When the TLS certificate expires; 0 without TLS.",
			Read: a.certificateEnd},
	}
	return slices.Concat(own, a.logins.readings(), a.signIns.readings(), a.mailReadings(), a.runReadings(), a.undoReadings(), a.webhookReadings(), a.targetReadings(), a.auditReadings())
}

// listenerMetric returns a metric of the main listener, once it exists.
func (a *App) listenerMetric(read func(*limitListener) int64) func() float64 {
	return func() float64 {
		main := a.listening.Load()
		if main == nil {
			return 0
		}
		return float64(read(main.listener))
	}
}

// certificateEnd returns when the certificate expires, in seconds since 1970.
func (a *App) certificateEnd() float64 {
	main := a.listening.Load()
	if main == nil || main.tls == nil {
		return 0
	}
	return float64(main.tls.expiry().Unix())
}

// SettingError is an invalid setting that is found only at startup.
type SettingError struct{ error }

// Unwrap returns the error without the name of the setting.
func (e SettingError) Unwrap() error { return e.error }

// alarm logs a problem with a vendor that only the operator can fix. The cause contains
// neither secrets nor text of the vendor.
func (a *App) alarm(vendor string, cause error) {
	a.log.Error("payment vendor rejects requests or is failing", "vendor", vendor, "cause", cause)
}

// openStore retries while the database is unavailable. Other errors are permanent.
func openStore(ctx context.Context, settings Settings, self landfall.Replica, log *Log) (*sqlstore.Store, error) {
	keys, err := settings.EncryptionKeys()
	if err != nil {
		return nil, SettingError{err}
	}
	began := time.Now()
	deadline := began.Add(settings.DatabaseWait)
	for pause := limits.DatabaseOpenRetry; ; pause = min(2*pause, limits.DatabaseOpenMaxRetry) {
		store, err := sqlstore.Open(ctx, settings.Database, sqlstore.Options{
			Server: true, ApplySchema: true, AllowWeakDurability: settings.WeakDatabase,
			Password: settings.currentPassword(), Connections: settings.Connections, Logger: log.Logger, Application: "landfall " + self.Name(),
			OnSchemaStep: func(step sqlstore.SchemaStep, took time.Duration) {
				if step.Applied {
					log.Info("applied a schema step", "name", step.Name, "took", took.String())
				} else {
					log.Info("applying a schema step", "name", step.Name)
				}
			},
			SearchTerms: contract.SearchTerms, Keys: keys, WithoutNames: !settings.EncryptedNames,
		})
		switch {
		case err == nil:
			if pause > limits.DatabaseOpenRetry {
				log.Info("the database is available", "after", time.Since(began).Round(time.Second).String())
			}
			return store, nil
		// A key is missing, so waiting does not help.
		case errors.Is(err, sqlstore.ErrLocked):
			return nil, SettingError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
		case !errors.Is(err, landfall.ErrUnavailable), time.Now().Add(pause).After(deadline), ctx.Err() != nil:
			return nil, fmt.Errorf("database %s: %w", settings.DatabaseName(), err)
		}
		log.Warn("waiting for the database", "database", settings.DatabaseName(), "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// Catalogue lists the metrics.
func (a *App) Catalogue() []httpapi.Metric { return a.api.Metrics.Catalogue() }

// Handler returns the handler of the API.
func (a *App) Handler() http.Handler { return a.api }

// Ops returns the handler of the ops listener.
func (a *App) Ops() http.Handler { return a.api.Ops() }

// Store returns the store.
func (a *App) Store() landfall.Store { return a.store }

// Close closes the database and other connections. Run must have returned.
func (a *App) Close() error {
	a.closeTelemetry()
	a.vendors.Close()
	a.sender.Close()
	a.targets.Close()
	a.upkeep.Close()
	return a.store.Close()
}
