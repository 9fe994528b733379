package operate

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/service/audit"
)

// AuditFilter says which entries somebody wants to see. Empty fields let
// everything through.
type AuditFilter struct {
	Since, Until time.Time
	Actor        string
	Action       string // its beginning: "account." is all that is done to accounts
	Subject      string // its beginning as well: "ACME/" is a supplier's accounts
	RequestID    string // its beginning, so that a bulk request has all its lines

	Before, After int64 // ids between which entries are looked at; 0: no bound
	// Look is asked of every entry before it is looked at; false ends it. nil
	// looks at all.
	Look func(id int64, at time.Time) bool
}

// matches says whether an entry is wanted.
func (f AuditFilter) matches(entry landfall.AuditEntry) bool {
	return (f.Since.IsZero() || !entry.At.Before(f.Since)) && (f.Until.IsZero() || entry.At.Before(f.Until)) &&
		(f.Actor == "" || entry.Actor == f.Actor) && strings.HasPrefix(entry.Action, f.Action) &&
		strings.HasPrefix(entry.Subject, f.Subject) && strings.HasPrefix(entry.RequestID, f.RequestID)
}

// auditPage is how many entries are read in one transaction.
const auditPage = 200

// Audit gives what was done, the newest first, each act by itself.
func (o *Operator) Audit(ctx context.Context, filter AuditFilter) iter.Seq2[landfall.AuditLink, error] {
	return func(yield func(landfall.AuditLink, error) bool) {
		for link, err := range o.trail(ctx, landfall.AuditQuery{Newest: true, Before: filter.Before, After: filter.After, Limit: auditPage}) {
			if err != nil {
				yield(landfall.AuditLink{}, err)
				return
			}
			if filter.Look != nil && !filter.Look(link.ID, link.At) {
				return
			}
			// Times are the database's and ids are drawn a moment earlier: what is
			// older than a minute before Since is followed by nothing that is wanted.
			if link.At.Before(filter.Since.Add(-time.Minute)) {
				return
			}
			acts := link.Expand()
			for _, act := range slices.Backward(acts) {
				if filter.matches(act) && !yield(landfall.AuditLink{AuditEntry: act, Position: link.Position, Hash: link.Hash}, nil) {
					return
				}
			}
		}
	}
}

// ExportAudit gives every entry as it is kept, the oldest first, so that the
// chain can be checked by others.
func (o *Operator) ExportAudit(ctx context.Context) iter.Seq2[landfall.AuditLink, error] {
	return o.trail(ctx, landfall.AuditQuery{Limit: auditPage})
}

// trail reads the audit page by page, each in a transaction of its own.
func (o *Operator) trail(ctx context.Context, query landfall.AuditQuery) iter.Seq2[landfall.AuditLink, error] {
	return func(yield func(landfall.AuditLink, error) bool) {
		for {
			var page []landfall.AuditLink
			err := o.view(ctx, "audit", func(view landfall.View) (err error) {
				page, err = view.AuditTrail(ctx, query)
				return err
			})
			if err != nil {
				yield(landfall.AuditLink{}, err)
				return
			}
			for _, link := range page {
				if !yield(link, nil) {
					return
				}
				if query.Newest {
					query.Before = link.ID
				} else {
					query.After = link.ID
				}
			}
			if len(page) < query.Limit {
				return
			}
		}
	}
}

// VerifyAudit finds the first place at which the audit is not what it was.
func (o *Operator) VerifyAudit(ctx context.Context, evidence audit.Evidence) (audit.Result, error) {
	verdict, err := audit.Verify(ctx, o.store, evidence)
	return verdict, storeError("audit.verify", err)
}
