package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
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
func (s *Store) Failed(ctx context.Context, supplier string) iter.Seq2[landfall.FailedProcess, error] {
	return func(yield func(landfall.FailedProcess, error) bool) {
		// Leaving the loop must end the query, not read the rest of it.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := s.engine.stream(ctx, func(session *session) error {
			return (&view{session}).failed(ctx, supplier, func(failed landfall.FailedProcess) error {
				if !yield(failed, nil) {
					cancel()
					return errStopped
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(landfall.FailedProcess{}, err)
		}
	}
}

func (v *view) failed(ctx context.Context, supplier string, each func(landfall.FailedProcess) error) error {
	rows, err := v.query(ctx, `SELECT p.external, p.failure, p.failed_at FROM process p
		WHERE p.supplier_id = (SELECT id FROM supplier WHERE code = $1)
			AND p.failed_at IS NOT NULL AND p.state <> 'skipped'
		ORDER BY p.first_staged_at, p.external`, supplier)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var failed landfall.FailedProcess
		var text []byte
		var at sql.NullInt64
		if err := rows.Scan(&failed.External, &text, &at); err != nil {
			return v.note(err)
		}
		failure, err := readFailure(text, at)
		if err != nil {
			return err
		}
		failed.Failure = *failure
		if err := each(failed); err != nil {
			return err
		}
	}
	return v.note(rows.Err())
}

// FailureSummary groups what Failed streams; only the groups are kept.
func (s *Store) FailureSummary(ctx context.Context, supplier string) ([]landfall.FailureGroup, error) {
	type place struct{ code, attr string }
	groups := map[place]*landfall.FailureGroup{}
	for failed, err := range s.Failed(ctx, supplier) {
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
