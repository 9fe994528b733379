package sqlstore

import (
	"context"
	"errors"
	"log/slog"

	"landfall"
)

// formerBatch is how many processes of before are counted in one transaction.
const formerBatch = 500

// countFormer counts what was staged and created before figures were kept, a
// batch at a time, before anybody is served. It can be interrupted, and several
// replicas that start at once share it. Of accounts that exist, what is on them
// counts as what was sent: nobody wrote down then where the two differed.
func (s *Store) countFormer(ctx context.Context, figure func([]byte, string) landfall.Figures, logger *slog.Logger) error {
	// A look at first: once all is counted, every later start finds nothing to do and
	// writes nothing for it.
	var left int64
	err := s.View(ctx, func(v landfall.View) error {
		return v.(*view).one(ctx, `SELECT count(*) FROM uncounted`, nil, []any{&left}) //nolint:forcetypeassert // it is this store's
	})
	if err != nil || left == 0 {
		return err
	}
	for counted := 0; ; {
		var count int
		err := s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
			count, err = t.countFormer(ctx, figure)
			return err
		})
		if err != nil || count == 0 {
			return err
		}
		if counted += count; counted%(100*formerBatch) == 0 && logger != nil {
			logger.Info("counting what was staged by an earlier version", "accounts", counted)
		}
	}
}

// former is a process of before with its last document.
type former struct {
	id       int64
	key      landfall.Key
	document []byte
	currency string // of the supplier
}

// countFormer counts a part of what was staged before figures were kept. It holds
// the mark, so that two replicas do not count the same.
func (t *tx) countFormer(ctx context.Context, figure func([]byte, string) landfall.Figures) (int, error) {
	var after, until int64
	err := t.one(ctx, `SELECT after, until FROM uncounted held {hold}`, nil, []any{&after, &until})
	if errors.Is(err, landfall.ErrNotFound) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	batch, err := collect(ctx, t.session, func(scan scanner, one *former) error {
		return scan(&one.id, &one.key.Supplier, &one.key.External, &one.document, &one.currency)
	}, `SELECT p.id, s.code, p.external, g.document, s.currency FROM process p JOIN supplier s ON s.id = p.supplier_id
		LEFT JOIN staging g ON g.process_id = p.id AND g.revision = p.revision
		WHERE p.id > $1 AND p.id <= $2 ORDER BY p.id LIMIT $3`, after, until, int64(formerBatch))
	if err != nil {
		return 0, err
	}
	if len(batch) == 0 {
		_, err := t.exec(ctx, `DELETE FROM uncounted`)
		return 0, err
	}
	written := pile{table: formerTable}
	for _, one := range batch {
		if one.document == nil {
			continue // a mark to be skipped, and nothing else
		}
		figures := landfall.Figures{Currency: one.currency, Accounts: 1}
		// A document that does not open counts as one account. The service must start
		// with it, and an inspection tells of it.
		if document, err := t.safe.opened(one.key, one.document); err == nil && figure != nil {
			figures = figure(document, one.currency)
		}
		written.add(one.id, figuresText(figures))
	}
	if err := t.write(ctx, &written); err != nil {
		return 0, err
	}
	last := batch[len(batch)-1].id
	found := recount{}
	if err := inRange.created(ctx, &t.view, found, after, last); err != nil {
		return 0, err
	}
	if err := inRange.stillWaiting(ctx, &t.view, found, after, last); err != nil {
		return 0, err
	}
	var changes tallies
	for supplier, tallies := range found {
		changes.addAll(supplier, tallies)
	}
	if err := t.tally(ctx, &changes); err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `UPDATE uncounted SET after = $1`, last)
	return len(batch), err
}

// formerTable is the processes whose figures are filled in.
var formerTable = &table{
	kinds: []string{"bigint", "text"},
	values: forSizes(batchSizes, `WITH w (id, figures) AS (VALUES `, `($1, $2)`,
		`) UPDATE process SET figures = w.figures FROM w WHERE process.id = w.id`),
	before: `UPDATE process SET figures = w.figures FROM (`,
	after:  `) AS w (id, figures) WHERE process.id = w.id`,
	exact:  true,
}
