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

// AuditFilter selects audit entries. An empty field matches everything.
type AuditFilter struct {
	Since, Until time.Time
	Actor        string // "operator:ada", or "ada" in the console and on the command line
	Action       string // a prefix: "account." matches every action on accounts
	Subject      string // a prefix: "ACME/" matches a supplier's accounts
	RequestID    string // a prefix, so that a bulk request matches all its lines

	Before, After int64 // exclusive bounds of the ids to read; 0: no bound
	// Look is called before each entry is examined; false ends the search. nil
	// examines all entries.
	Look func(id int64, at time.Time) bool
}

// matches reports whether the filter selects an entry.
func (f AuditFilter) matches(entry landfall.AuditEntry) bool {
	return (f.Since.IsZero() || !entry.At.Before(f.Since)) && (f.Until.IsZero() || entry.At.Before(f.Until)) &&
		f.by(entry.Actor) && strings.HasPrefix(entry.Action, f.Action) &&
		strings.HasPrefix(entry.Subject, f.Subject) && strings.HasPrefix(entry.RequestID, f.RequestID)
}

// by reports whether the filter selects an actor.
func (f AuditFilter) by(actor string) bool {
	_, login, _ := strings.Cut(actor, ":")
	return f.Actor == "" || f.Actor == actor || f.Actor == login
}

// auditPage is how many entries are read in one transaction.
const auditPage = 200

// Audit returns the audit entries, newest first. A batch is returned as its
// single actions.
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
			// Ids are assigned a moment before times, so the two orders differ
			// slightly. Once an entry is more than a minute older than Since,
			// all that follow are too old as well.
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

// ExportAudit returns every entry as it is stored, oldest first, so that others
// can check the chain.
func (o *Operator) ExportAudit(ctx context.Context) iter.Seq2[landfall.AuditLink, error] {
	return o.trail(ctx, landfall.AuditQuery{Limit: auditPage})
}

// trail reads the audit in pages, each in its own transaction.
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

// VerifyAudit finds the first position at which the audit was altered.
func (o *Operator) VerifyAudit(ctx context.Context, evidence audit.Evidence) (audit.Result, error) {
	verdict, err := audit.Verify(ctx, o.store, evidence)
	return verdict, storeError("audit.verify", err)
}
