package sqlstore

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"landfall"
)

// Contributions streams the accounts that contribute to a figure.
func (s *Store) Contributions(ctx context.Context, query landfall.ContributionQuery) iter.Seq2[landfall.Contribution, error] {
	from := landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(math.MinInt64)}
	if query.After != nil {
		from = *query.After
	}
	read := contributionReaders[query.Reason]
	rows := inBatches(0, func(limit int) (batch []contribution, err error) {
		err = s.stream(ctx, func(v *view) error {
			supplier, _, err := v.supplierNow(ctx, query.Supplier)
			if err != nil {
				return ignoreNotFound(err)
			}
			batch, err = read(v, ctx, supplier, from, limit)
			return err
		})
		if len(batch) > 0 {
			last := &batch[len(batch)-1]
			from = landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External}
		}
		return batch, err
	})
	return contributions(rows, query)
}

// contribution is an account with the figures it contributes.
type contribution struct {
	landfall.Contribution
	figures []landfall.Figures
}

// contributions yields the accounts that contribute to a measure.
func contributions(rows iter.Seq2[contribution, error], query landfall.ContributionQuery) iter.Seq2[landfall.Contribution, error] {
	return func(yield func(landfall.Contribution, error) bool) {
		count := 0
		for row, err := range rows {
			if err != nil {
				yield(landfall.Contribution{}, err)
				return
			}
			var sums landfall.Sums
			for _, figures := range row.figures {
				if query.Measure.Currency == "" || query.Measure.Currency == figures.Currency {
					sums.Add(figures)
				}
			}
			row.Value = query.Measure.Of(sums)
			if query.Measure.Kind == landfall.MeasureBalances {
				row.Value.Count = nil // each counts as one account anyway
			}
			if row.Value.Zero() {
				continue
			}
			if !yield(row.Contribution, nil) {
				return
			}
			if count++; count == query.Limit {
				return
			}
		}
	}
}

// contributionReaders contains for each reason the function that reads a batch
// of its accounts.
var contributionReaders = map[landfall.Reason]func(*view, context.Context, int64, landfall.ProcessCursor, int) ([]contribution, error){
	landfall.ReasonPending:      pendingContributions(pending + ` AND p.failed_at IS NULL`),
	landfall.ReasonSkipped:      pendingContributions(whereSkipped),
	landfall.ReasonFailed:       (*view).failedContributions,
	landfall.ReasonMovedDates:   deviatingContributions(landfall.StatusOwnNotes),
	landfall.ReasonOtherFigures: deviatingContributions(landfall.StatusDeviating),
}

// pendingContributions reads processes in the order of first staging.
func pendingContributions(condition string) func(*view, context.Context, int64, landfall.ProcessCursor, int) ([]contribution, error) {
	text := `SELECT p.external, p.first_staged_at, p.figures FROM process p
		WHERE p.supplier_id = $1 AND (p.first_staged_at, p.external) > ($2, $3) AND ` + condition + `
		ORDER BY p.first_staged_at, p.external LIMIT $4`
	return func(v *view, ctx context.Context, supplier int64, from landfall.ProcessCursor, limit int) ([]contribution, error) {
		return collect(ctx, v.txSession, func(scan scanner, one *contribution) error {
			figures := landfall.Figures{Accounts: 1} // for a mark without data
			err := scan(&one.External, instantInto{&one.FirstStagedAt}, figuresInto{&figures})
			one.figures = []landfall.Figures{figures}
			return err
		}, text, supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit))
	}
}

// failedContributions reads, sorted by number, the accounts whose attempt
// failed and those that were refused and never staged.
func (v *view) failedContributions(ctx context.Context, supplier int64, from landfall.ProcessCursor, limit int) ([]contribution, error) {
	read := func(scan scanner, one *contribution) error {
		figures := landfall.Figures{Accounts: 1}
		err := scan(&one.External, figuresInto{&figures})
		one.figures = []landfall.Figures{figures}
		return err
	}
	failed, err := collect(ctx, v.txSession, read, `SELECT p.external, p.figures FROM process p
		WHERE p.supplier_id = $1 AND p.external > $2 AND p.failed_at IS NOT NULL AND p.skip_reason IS NULL
		ORDER BY p.external LIMIT $3`, supplier, from.External, int64(limit))
	if err != nil {
		return nil, err
	}
	refused, err := collect(ctx, v.txSession, read, `SELECT r.external, NULL FROM refusal r
		WHERE r.supplier_id = $1 AND r.external > $2 AND NOT EXISTS
			(SELECT 1 FROM process p WHERE p.supplier_id = r.supplier_id AND p.external = r.external)
		ORDER BY r.external LIMIT $3`, supplier, from.External, int64(limit))
	// Each list was read up to the full limit, because all accounts may be in
	// one of them. What is cut off here is read again after the last one that
	// stays.
	all := slices.Concat(failed, refused)
	slices.SortFunc(all, func(a, b contribution) int { return cmp.Compare(a.External, b.External) })
	return all[:min(len(all), limit)], err
}

// deviatingContributions reads, sorted by number, the accounts that differ from
// what was sent for them, with every deviation of a status.
func deviatingContributions(status landfall.AccountStatus) func(*view, context.Context, int64, landfall.ProcessCursor, int) ([]contribution, error) {
	return func(v *view, ctx context.Context, supplier int64, from landfall.ProcessCursor, limit int) ([]contribution, error) {
		deviations, err := collect(ctx, v.txSession, func(scan scanner, one *contribution) error {
			var figures landfall.Figures
			err := scan(&one.External, textInto{&one.AccountNumber}, figuresInto{&figures})
			if deviationStatus(figures) == status {
				one.figures = []landfall.Figures{figures}
			}
			return err
		}, `SELECT d.external, p.account_number, d.figures FROM
				(SELECT DISTINCT external FROM deviation WHERE supplier_id = $1 AND external > $2 ORDER BY external LIMIT $3) AS batch
			JOIN deviation d ON d.supplier_id = $1 AND d.external = batch.external
			JOIN process p ON p.supplier_id = $1 AND p.external = d.external ORDER BY d.external, d.id`,
			supplier, from.External, int64(limit))
		var accounts []contribution
		for _, one := range deviations {
			if last := len(accounts) - 1; last >= 0 && accounts[last].External == one.External {
				accounts[last].figures = append(accounts[last].figures, one.figures...)
			} else {
				accounts = append(accounts, one)
			}
		}
		return accounts, err
	}
}
