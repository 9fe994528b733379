package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"slices"

	"landfall"
)

// keptFailure is a failure as the database keeps it.
type keptFailure struct {
	Code       string          `json:"code"`
	Detail     string          `json:"detail"`
	DryRun     bool            `json:"dry_run,omitempty"`
	Violations []keptViolation `json:"violations,omitempty"`
}

type keptViolation struct {
	Code   string `json:"code"`
	Attr   string `json:"attr"`
	Detail string `json:"detail"`
}

func failureText(failure landfall.Failure) (string, error) {
	kept := keptFailure{Code: failure.Code, Detail: failure.Detail, DryRun: failure.DryRun}
	for _, violation := range failure.Violations {
		kept.Violations = append(kept.Violations, keptViolation(violation))
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// readFailure gives back what failureText wrote, nil for NULL.
func readFailure(text []byte, at sql.NullInt64) (*landfall.Failure, error) {
	if text == nil {
		return nil, nil
	}
	var kept keptFailure
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	failure := &landfall.Failure{At: instant(at), Code: kept.Code, Detail: kept.Detail, DryRun: kept.DryRun}
	for _, violation := range kept.Violations {
		failure.Violations = append(failure.Violations, landfall.Violation(violation))
	}
	return failure, nil
}

// Failed streams every process of a supplier whose last attempt failed.
func (s *Store) Failed(ctx context.Context, query landfall.FailureQuery) iter.Seq2[landfall.FailedProcess, error] {
	after := query.After
	return inBatches(query.Limit, func(limit int) (rows []landfall.FailedProcess, err error) {
		err = s.stream(ctx, func(v *view) error {
			rows, err = v.failed(ctx, query.Supplier, after, limit)
			return err
		})
		if len(rows) > 0 {
			after = rows[len(rows)-1].External
		}
		return rows, err
	})
}

// failedProcesses has an index of its own, whose condition it repeats.
const failedProcesses = `SELECT p.external, p.failure, p.failed_at FROM process p
	WHERE p.supplier_id = $1 AND p.external > $2 AND p.failed_at IS NOT NULL AND p.skip_reason IS NULL
	ORDER BY p.external LIMIT $3`

func (v *view) failed(ctx context.Context, code, after string, limit int) ([]landfall.FailedProcess, error) {
	supplier, _, err := v.supplierNow(ctx, code)
	if err != nil {
		return nil, absentIsNone(err)
	}
	return collect(ctx, v.session, func(scan scanner, failed *landfall.FailedProcess) error {
		var text []byte
		var at sql.NullInt64
		if err := scan(&failed.External, &text, &at); err != nil {
			return err
		}
		failure, err := readFailure(text, at)
		if err == nil {
			failed.Failure = *failure
		}
		return err
	}, failedProcesses, supplier, after, int64(limit))
}

// FailureSummary groups what Failed streams; only the groups are kept.
func (s *Store) FailureSummary(ctx context.Context, supplier string) ([]landfall.FailureGroup, error) {
	type place struct{ code, attr string }
	groups := map[place]*landfall.FailureGroup{}
	for failed, err := range s.Failed(ctx, landfall.FailureQuery{Supplier: supplier}) {
		if err != nil {
			return nil, err
		}
		places := map[place]bool{}
		for _, violation := range failed.Failure.Violations {
			places[place{violation.Code, landfall.AttrPattern(violation.Attr)}] = true
		}
		if len(places) == 0 {
			places[place{code: failed.Failure.Code}] = true
		}
		for at := range places {
			group := groups[at]
			if group == nil {
				group = &landfall.FailureGroup{Code: at.code, Attr: at.attr}
				groups[at] = group
			}
			group.Accounts++
			if len(places) == 1 {
				group.Alone++
			}
		}
	}
	list := make([]landfall.FailureGroup, 0, len(groups))
	for _, group := range groups {
		list = append(list, *group)
	}
	slices.SortFunc(list, func(a, b landfall.FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Accounts, a.Accounts), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Attr, b.Attr))
	})
	return list, nil
}
