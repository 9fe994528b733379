// Package intake contains the operations of the API, one file each. An operation
// takes the caller and the request, decides, and returns a typed result or a
// *landfall.Error. It knows neither HTTP nor SQL.
package intake

import (
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/webhook"
)

// Options configures a Service.
type Options struct {
	// Now decides what "today" means to the rules; everything that orders or
	// expires things uses the database's clock. time.Now by default.
	Now func() time.Time
	// Lease is how long a claim lasts without being renewed; 60 s by default.
	Lease time.Duration
	// ServiceLimit is how many accounts the whole service creates at once, over
	// all replicas; 0 means no limit.
	ServiceLimit int
	// Files looks up the files that notes and statements name; nil when no file store is configured.
	Files landfall.FileStore
	// Quota shares creations between organisations; nil means no quotas.
	Quota Quota
	// Verifier asks payment vendors; nil when there are none to ask.
	Verifier landfall.InstructionVerifier
	// Tide watches the event log; by default the service creates its own watcher.
	Watcher *webhook.LogWatcher
	// MailDelay is how long after the creation of an account its customers get a
	// mail.
	MailDelay time.Duration
}

// Store contains the store methods that the operations of the API need.
type Store interface {
	landfall.Transactor
	landfall.Importer
	landfall.Lister
	landfall.EventLog
	For(caller landfall.Caller) landfall.Store
}

// Service implements the operations of the API. Its only state is a short-lived
// cache of suppliers, the tables of their packs and who waits for a place under
// their limits, so any number of replicas may run.
type Service struct {
	store         Store
	now           func() time.Time
	supplierCache *cache.Cache[grant, *landfall.Supplier]
	schemaCache   *cache.Cache[string, *contract.Schema]
	lease         time.Duration
	serviceLimit  atomic.Int64 // see Options.ServiceLimit
	files         landfall.FileStore
	verifier      landfall.InstructionVerifier
	quota         Quota
	mailDelay     time.Duration
	watcher       *webhook.LogWatcher
	places        places
}

// New returns a service over a store.
func New(store Store, options Options) *Service {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Lease <= 0 {
		options.Lease = limits.ClaimLease
	}
	if options.Watcher == nil {
		options.Watcher = webhook.NewLogWatcher(store)
	}
	service := &Service{
		store: store, now: options.Now, supplierCache: cache.New[grant, *landfall.Supplier](supplierCacheLimits),
		schemaCache: cache.New[string, *contract.Schema](schemaCacheLimits),
		lease:       options.Lease, files: options.Files, verifier: options.Verifier,
		quota: options.Quota, mailDelay: options.MailDelay, watcher: options.Watcher,
	}
	service.SetServiceLimit(options.ServiceLimit)
	return service
}

// SetServiceLimit replaces Options.ServiceLimit for accounts that are created from now on.
func (s *Service) SetServiceLimit(accounts int) { s.serviceLimit.Store(int64(accounts)) }

func (s *Service) limit() int { return int(s.serviceLimit.Load()) }

// Now returns the time that decides what "today" is.
func (s *Service) Now() time.Time { return s.now() }

// ClaimLease returns how long a claim lasts without being renewed.
func (s *Service) ClaimLease() time.Duration { return s.lease }

// userError turns an error into what a caller sees.
func userError(err error) *landfall.Error { return landfall.UserError("intake", err) }
