// Package intake holds the verbs of the API, one file each. A verb takes who
// is asking and what was sent, decides, and answers with a typed result or a
// *landfall.Error; it knows neither HTTP nor SQL.
package intake

import (
	"time"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/outbound/webhook"
)

// defaultLease is how long a killed attempt keeps others away.
const defaultLease = time.Minute

// Options says what a desk works with besides its store.
type Options struct {
	// Now decides what "today" means to the rules; everything that orders or
	// expires things uses the database's own clock. time.Now by default.
	Now func() time.Time
	// Lease is how long a claim lasts without being renewed; 60 s by default.
	Lease time.Duration
	// ServiceLimit is how many accounts the whole service creates at once, over
	// all replicas; 0 means no limit.
	ServiceLimit int
	// Files looks up the files that notes and statements name; nil when no file store is configured.
	Files landfall.FileStore
	// Quota shares the places for creations between organisations; nil when
	// nobody does.
	Quota Quota
	// Verifier asks payment vendors; nil when there are none to ask.
	Verifier landfall.InstructionVerifier
	// Tide watches the log of events; nil when the desk is to have its own.
	Tide *webhook.Tide
	// MailDelay is how long customers are not told of their new account.
	MailDelay time.Duration
	// Wake tells whoever takes runs forward that there is something to do; nil
	// when he looks himself.
	Wake func()
}

// Store is what the verbs of the API need of a store.
type Store interface {
	landfall.Transactor
	landfall.Importer
	landfall.RunQueue
	landfall.Lister
	landfall.EventLog
}

// Desk is where requests are handed in. It keeps nothing but a short-lived
// memory of suppliers, so any number of replicas may run side by side.
type Desk struct {
	store        Store
	now          func() time.Time
	suppliers    *cache.Memo[grant, *landfall.Supplier]
	lease        time.Duration
	serviceLimit int
	files        landfall.FileStore
	verifier     landfall.InstructionVerifier
	quota        Quota
	mailDelay    time.Duration
	tide         *webhook.Tide
	wake         func()
}

// New opens a desk over a store.
func New(store Store, options Options) *Desk {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Lease <= 0 {
		options.Lease = defaultLease
	}
	if options.Tide == nil {
		options.Tide = webhook.NewTide(store)
	}
	if options.Wake == nil {
		options.Wake = func() {}
	}
	return &Desk{
		tide:  options.Tide,
		store: store, now: options.Now, suppliers: cache.New[grant, *landfall.Supplier](supplierMemory),
		lease: options.Lease, serviceLimit: options.ServiceLimit,
		files: options.Files, verifier: options.Verifier, quota: options.Quota, wake: options.Wake, mailDelay: options.MailDelay,
	}
}

// trouble is what a caller is told of an error from below.
func trouble(err error) *landfall.Error { return landfall.UserError("intake", err) }
