package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"landfall"
	"landfall/internal/store/sqlset"
)

// auditEntry selects all columns that the hash of an entry covers.
const auditEntry = `SELECT a.id, a.at, a.actor, a.action, a.subject, a.detail, a.source, a.request_id, a.acts`

// auditInto returns the scan destinations for the columns of an entry.
func auditInto(entry *landfall.AuditEntry) []any {
	return []any{
		&entry.ID, instantInto{&entry.At}, &entry.Actor, &entry.Action, &entry.Subject, &entry.Detail,
		&entry.Source, &entry.RequestID, &entry.Batch,
	}
}

// hashInto scans a hash of the audit chain.
type hashInto struct{ hash *landfall.AuditHash }

// Scan implements sql.Scanner.
func (i hashInto) Scan(value any) error {
	var kept sql.NullString
	err := kept.Scan(value)
	*i.hash = landfall.ParseAuditHash(kept.String)
	return err
}

// Audit returns the audit entries about one subject, oldest first.
func (v *view) Audit(ctx context.Context, subject string) ([]landfall.AuditEntry, error) {
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.AuditEntry) error { return scan(auditInto(entry)...) },
		auditEntry+` FROM audit a WHERE a.subject = $1 AND a.subject <> '' ORDER BY a.id`, subject)
}

// AppendAudit adds an audit entry.
func (t *tx) AppendAudit(ctx context.Context, entry landfall.AuditEntry) error {
	entries := sqlset.Rows{Table: auditTable}
	addAudit(&entries, entry)
	return t.write(ctx, &entries)
}

// CountAudit counts recent entries of an action about a subject.
func (t *tx) CountAudit(ctx context.Context, subject, action string, within time.Duration) (int, error) {
	var count int64
	err := t.one(ctx, `SELECT count(*) FROM audit WHERE subject = $1 AND subject <> '' AND action = $2 AND at > {now} - $3`, // the condition of the index
		[]any{subject, action, within.Microseconds()}, []any{&count})
	return int(count), err
}

// AuditChain returns how far the entries are chained.
func (v *view) AuditChain(ctx context.Context) (chain landfall.AuditChain, err error) {
	err = v.one(ctx, `SELECT name, position, hash, through FROM audit_chain WHERE id = 1`, nil,
		[]any{&chain.Name, &chain.Position, hashInto{&chain.Hash}, &chain.Through})
	return chain, err
}

// AuditTrail returns entries in the order of their ids, or newest first if the
// query asks for that.
func (v *view) AuditTrail(ctx context.Context, query landfall.AuditQuery) ([]landfall.AuditLink, error) {
	order := `a.id`
	if query.Newest {
		order = `a.id DESC`
	}
	before := query.Before
	if before == 0 {
		before = math.MaxInt64
	}
	return collect(ctx, v.txSession, func(scan scanner, link *landfall.AuditLink) error {
		return scan(append(auditInto(&link.AuditEntry), &link.Position, hashInto{&link.Hash})...)
	}, auditEntry+`, coalesce(l.position, 0), coalesce(l.hash, '') FROM audit a LEFT JOIN audit_link l ON l.entry = a.id
		WHERE a.id > $1 AND a.id < $2 ORDER BY `+order+` LIMIT $3`, query.After, before, int64(query.Limit))
}

// AuditPosition returns the id of the entry at a position of the chain, and
// whether the entry still exists.
func (v *view) AuditPosition(ctx context.Context, place int64) (id int64, there bool, err error) {
	err = v.one(ctx, `SELECT l.entry, EXISTS (SELECT 1 FROM audit a WHERE a.id = l.entry) FROM audit_link l WHERE l.position = $1`,
		[]any{place}, []any{&id, &there})
	return id, there, err
}

// AuditBacklog returns how many entries are not chained yet, counting at most
// the given number, and the age of the oldest.
func (v *view) AuditBacklog(ctx context.Context, most int) (backlog landfall.AuditBacklog, err error) {
	var age int64
	err = v.one(ctx, `SELECT count(*), coalesce({now} - min(late.at), 0) FROM
		(SELECT a.at FROM audit a WHERE a.id > (SELECT through FROM audit_chain WHERE id = 1) ORDER BY a.id LIMIT $1) AS late`,
		[]any{int64(most)}, []any{&backlog.Entries, &age})
	backlog.Age = time.Duration(max(age, 0)) * time.Microsecond
	return backlog, err
}

// chainBatch is how many entries are chained in one transaction.
const chainBatch = 500

// linkTable is the table of the chain's links.
var linkTable = newTable("audit_link", "position bigint", "entry bigint", "hash text")

// ChainAudit chains the next entries, at most up to the point where the log is
// complete.
func (s *Store) ChainAudit(ctx context.Context, before landfall.Watermark) (landfall.Watermark, landfall.ChainStep, error) {
	mark, err := s.pollWatermark(ctx, "audit", before)
	if err != nil {
		return before, landfall.ChainStep{}, err
	}
	var chain landfall.AuditChain
	err = s.View(ctx, func(read landfall.View) (err error) {
		chain, err = read.AuditChain(ctx)
		return err
	})
	if err != nil || chain.Through >= mark.Complete {
		return mark, landfall.ChainStep{}, err // usually there is nothing to do, and nothing is written
	}
	chained := 0
	err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
		chained, err = t.chain(ctx, mark.Complete)
		return err
	})
	if err != nil {
		return mark, landfall.ChainStep{}, err
	}
	return mark, landfall.ChainStep{Chained: chained, More: chained == chainBatch}, nil
}

// chain adds the next entries up to an id to the chain. It does not wait: if
// another transaction has locked the chain, that one does the work.
func (t *tx) chain(ctx context.Context, upTo int64) (int, error) {
	var place, through int64
	var hash landfall.AuditHash
	err := t.one(ctx, `SELECT held.position, held.hash, held.through FROM audit_chain held WHERE held.id = 1 {for_update_skip}`, nil,
		[]any{&place, hashInto{&hash}, &through})
	if errors.Is(err, landfall.ErrNotFound) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	entries, err := collect(ctx, t.txSession, func(scan scanner, entry *landfall.AuditEntry) error { return scan(auditInto(entry)...) },
		auditEntry+` FROM audit a WHERE a.id > $1 AND a.id <= $2 ORDER BY a.id LIMIT $3`, through, upTo, int64(chainBatch))
	if err != nil {
		return 0, err
	}
	links := sqlset.Rows{Table: linkTable}
	for _, entry := range entries {
		place, hash = place+1, entry.HashAfter(hash)
		links.Add(place, entry.ID, hash.String())
	}
	if through = max(through, upTo); len(entries) == chainBatch {
		through = entries[chainBatch-1].ID
	}
	if err := t.write(ctx, &links); err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `UPDATE audit_chain SET position = $1, hash = $2, through = $3 WHERE id = 1`, place, hash.String(), through)
	return len(entries), err
}
