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

// storedFailure is a failure as the database stores it.
type storedFailure struct {
	Code       string            `json:"code"`
	Detail     string            `json:"detail"`
	DryRun     bool              `json:"dry_run,omitempty"`
	Violations []storedViolation `json:"violations,omitempty"`
}

// storedViolation has its own JSON names, so that renaming a field of
// landfall.Violation does not make old rows unreadable.
type storedViolation struct {
	Code   string `json:"code"`
	Attr   string `json:"attr"`
	Detail string `json:"detail"`
}

// failureText encodes a failure as it is stored.
func failureText(failure landfall.Failure) (string, error) {
	kept := storedFailure{Code: failure.Code, Detail: failure.Detail, DryRun: failure.DryRun}
	for _, violation := range failure.Violations {
		kept.Violations = append(kept.Violations, storedViolation(violation))
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// readFailure decodes the output of failureText; it returns nil for NULL.
func readFailure(text []byte, at sql.NullInt64) (*landfall.Failure, error) {
	if text == nil {
		return nil, nil
	}
	var kept storedFailure
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
	after := query
	return inBatches(query.Limit, func(limit int) ([]landfall.FailedProcess, error) {
		var rows []landfall.FailedProcess
		err := s.stream(ctx, func(v *view) (err error) {
			rows, err = v.failed(ctx, after, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			last := &rows[len(rows)-1]
			after.After, after.AfterPosting = last.External, last.Failure.Posting
		}
		return rows, nil
	})
}

// failedProcesses repeats the condition of its own index. It leaves out
// processes with a later refusal, which counts instead, unless each is listed under
// its state.
func failedProcesses(byState bool) string {
	refusedSince := `AND NOT EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = p.supplier_id AND r.external = p.external AND r.at > p.failed_at)`
	if byState {
		refusedSince = ``
	}
	return `SELECT p.external, p.failure, p.failed_at FROM process p
		WHERE p.supplier_id = $1 AND p.external > $2 AND p.failed_at IS NOT NULL AND p.skip_reason IS NULL ` + refusedSince + `
		ORDER BY p.external LIMIT $3`
}

// refusedStagings leaves out accounts that exist by now, are skipped, or failed
// later; by state it leaves out all that were ever staged.
func refusedStagings(byState bool) string {
	except := `AND (p.account_number IS NOT NULL OR p.skip_reason IS NOT NULL OR p.failed_at >= r.at)`
	if byState {
		except = ``
	}
	return `SELECT r.external, r.failure, r.at FROM refusal r
		WHERE r.supplier_id = $1 AND r.external > $2 AND NOT EXISTS (SELECT 1 FROM process p
			WHERE p.supplier_id = r.supplier_id AND p.external = r.external ` + except + `)
		ORDER BY r.external LIMIT $3`
}

// failed merges failed attempts, refused stagings and refused postings into one
// list in the order of their numbers. Each query returns up to limit rows, so no
// page misses any.
func (v *view) failed(ctx context.Context, query landfall.FailureQuery, limit int) ([]landfall.FailedProcess, error) {
	supplier, _, err := v.supplierNow(ctx, query.Supplier)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	wants := func(kind landfall.FailureKind) bool { return query.Which == landfall.AnyFailure || query.Which == kind }
	var attempts, refused, postings []landfall.FailedProcess
	if wants(landfall.AttemptFailures) {
		if attempts, err = collect(ctx, v.txSession, v.readFailed("process", query.Supplier), failedProcesses(query.ByState), supplier, query.After, int64(limit)); err != nil {
			return nil, err
		}
	}
	if wants(landfall.StagingRefusals) {
		if refused, err = collect(ctx, v.txSession, v.readFailed("refusal", query.Supplier), refusedStagings(query.ByState), supplier, query.After, int64(limit)); err != nil {
			return nil, err
		}
	}
	for i := range refused {
		refused[i].Failure.AtStaging = true
	}
	if wants(landfall.PostingRefusals) {
		// Without a kind every posting of the number was listed or there is none.
		kind := string(query.AfterPosting)
		if kind == "" {
			kind = "\U0010ffff"
		}
		if query.After == "" {
			kind = ""
		}
		if postings, err = collect(ctx, v.txSession, v.readRefusedPosting(query.Supplier), refusedPostings, supplier, query.After, int64(limit), kind); err != nil {
			return nil, err
		}
	}
	var deliveries []landfall.FailedProcess
	if wants(landfall.PostingRefusals) {
		// Where the last row was a refusal that is listed before this one, the account
		// itself follows.
		from := `>`
		if query.AfterPosting != "" && query.AfterPosting < landfall.PostingTarget {
			from = `>=`
		}
		if deliveries, err = collect(ctx, v.txSession, readRefusedDelivery, refusedDeliveries(from), supplier, query.After, int64(limit)); err != nil {
			return nil, err
		}
	}
	return mergeFailures(limit, attempts, refused, postings, deliveries), nil
}

// refusedDeliveries selects the accounts with deliveries that a target refused.
func refusedDeliveries(from string) string {
	return `SELECT d.external, max(d.settled_at) FROM target_delivery d WHERE d.supplier_id = $1 AND d.external ` + from + ` $2
		AND d.state = 'refused' GROUP BY d.external ORDER BY d.external LIMIT $3`
}

// readRefusedDelivery leaves out what the target said, which may be personal.
func readRefusedDelivery(scan scanner, failed *landfall.FailedProcess) error {
	failed.Failure.Code, failed.Failure.Posting = landfall.CodeDeliveryRefused, landfall.PostingTarget
	return scan(&failed.External, instantInto{&failed.Failure.At})
}

// unreadableFailure takes the place of a failure that cannot be read, so that the
// others can be listed.
var unreadableFailure = landfall.Failure{
	Code: landfall.CodeInternalError, Detail: "The stored failure cannot be read. The operator finds out why with 'landfall verify'.",
}

// openFailure opens and decodes a failure that was scanned already.
func openFailure(scan sealedScan, kept []byte, at sql.NullInt64) landfall.Failure {
	var text []byte
	if scan.open("failure", kept, &text) == nil {
		if failure, err := readFailure(text, at); err == nil && failure != nil {
			return *failure
		}
	}
	failure := unreadableFailure
	failure.At = instant(at)
	return failure
}

// readFailed returns a function that scans the failures of a table that belong
// to a supplier or a run.
func (v *view) readFailed(table string, owner any) func(scanner, *landfall.FailedProcess) error {
	return func(scan scanner, failed *landfall.FailedProcess) error {
		var kept []byte
		var at sql.NullInt64
		if err := scan(&failed.External, &kept, &at); err != nil {
			return err
		}
		failed.Failure = openFailure(v.sealer.scan(table, owner, failed.External), kept, at)
		return nil
	}
}

// mergeFailures merges lists in the order of their numbers and kinds. An account
// has an attempt, a refused staging or refused postings.
func mergeFailures(limit int, parts ...[]landfall.FailedProcess) []landfall.FailedProcess {
	all := slices.Concat(parts...)
	slices.SortStableFunc(all, func(a, b landfall.FailedProcess) int {
		return cmp.Or(cmp.Compare(a.External, b.External), cmp.Compare(a.Failure.Posting, b.Failure.Posting))
	})
	return all[:min(len(all), limit)]
}

// FailureSummary groups the failures that Failed streams, and keeps only the
// groups in memory. Each kind is read separately: reading both together would
// read half of the rows twice.
func (s *Store) FailureSummary(ctx context.Context, supplier string) (landfall.FailureSummary, error) {
	var tally landfall.FailureTally
	for _, which := range []landfall.FailureKind{landfall.AttemptFailures, landfall.StagingRefusals, landfall.PostingRefusals} {
		for failed, err := range landfall.OnePerAccount(s.Failed(ctx, landfall.FailureQuery{Supplier: supplier, Which: which})) {
			if err != nil {
				return landfall.FailureSummary{}, err
			}
			tally.AddAccount(failed.External, failed.Failure)
		}
	}
	return tally.Summary(), nil
}
