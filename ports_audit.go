package landfall

import "context"

// AuditChainer chains the entries of the audit. Writers do not: a chain that grows
// in every transaction would let all of them wait for each other.
type AuditChainer interface {
	// ChainAudit gives entries that are certain to have no older one still to come
	// their places in the chain, in the order of their ids, and says how many.
	// Of many who seal at once one does, and the others do nothing. It takes a
	// watermark of the audit and gives the next one, as EventLog's do.
	ChainAudit(ctx context.Context, before Watermark) (after Watermark, sealed int, err error)
}

// AuditReader reads the audit.
type AuditReader interface {
	// AuditChain says how far the entries are chained.
	AuditChain(ctx context.Context) (AuditChain, error)
	// AuditTrail gives entries in the order of their ids, with their places in
	// the chain.
	AuditTrail(ctx context.Context, query AuditQuery) ([]AuditLink, error)
	// AuditPosition gives the id of the entry that was given a place, and whether the
	// entry is still there; ErrNotFound when no entry has that place.
	AuditPosition(ctx context.Context, place int64) (id int64, there bool, err error)
	// AuditBacklog says how many entries have no place yet, counted up to most,
	// and how old the oldest is.
	AuditBacklog(ctx context.Context, most int) (AuditBacklog, error)
}
