package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/store/engine"
)

// inspectStage is one kind of check. Each step of it checks a bounded part behind
// a position.
type inspectStage struct {
	name string
	step func(ctx context.Context, s *Store, after string) (inspectPart, error)
}

// inspectPart is the result of a step. The position is "" at the end of a stage.
type inspectPart struct {
	findings  []landfall.Finding
	next      string
	processes int
}

// sealedStage is the beginning of the names of stages that check encrypted values.
const sealedStage = "sealed "

// inspectStages returns all stages in order.
func (s *Store) inspectStages() []inspectStage {
	stages := []inspectStage{{"accounts", inspectAccounts}, {"search terms", inspectTerms}}
	if s.sealer != nil {
		for _, one := range rekeyTables {
			stages = append(stages, inspectStage{sealedStage + one.table, inspectSealed(one)})
		}
	}
	stages = append(stages, inspectStage{"runs", atOnce((*Store).inspectRuns)}, inspectStage{"totals of runs", atOnce((*Store).inspectRunTotals)},
		inspectStage{"webhooks", atOnce((*Store).inspectWebhooks)}, inspectStage{"failures", atOnce((*Store).inspectFailures)},
		inspectStage{"sums", inspectSums})
	if s.db.Embedded() {
		return append(stages, inspectStage{"files", inspectFile})
	}
	return append(stages, inspectStage{"files", inspectRelation})
}

// Inspect checks everything that can be checked, without pauses.
func (s *Store) Inspect(ctx context.Context) iter.Seq2[landfall.Inspection, error] {
	return func(yield func(landfall.Inspection, error) bool) {
		at, done := landfall.InspectionPosition{}, 0
		for {
			step, err := s.InspectStep(ctx, at)
			if err != nil {
				yield(landfall.Inspection{Processes: done}, err)
				return
			}
			at, done = step.Next, done+step.Processes
			for i := range step.Findings {
				if !yield(landfall.Inspection{Processes: done, Finding: &step.Findings[i]}, nil) {
					return
				}
			}
			if step.Done || !yield(landfall.Inspection{Processes: done}, nil) {
				return
			}
		}
	}
}

// InspectStep does one step. What the database itself reports as damaged is a
// finding, and the inspection goes on behind it.
func (s *Store) InspectStep(ctx context.Context, from landfall.InspectionPosition) (step landfall.InspectionStep, err error) {
	stages := s.inspectStages()
	at := 0
	for i, stage := range stages {
		if stage.name == from.Stage {
			at = i
		}
	}
	// A stage of another version, or of a database that was not encrypted yet.
	if stages[at].name != from.Stage {
		at, from.After = 0, ""
	}
	part, err := stages[at].step(ctx, s, from.After)
	if _, unreadable := errors.AsType[*engine.UnreadableError](err); unreadable || engine.Damaged(err) {
		part.findings = append(part.findings, landfall.Finding{What: fmt.Sprintf("the database cannot read its own data (%s after %q): %v", stages[at].name, from.After, err)})
		err = nil
	}
	step.Findings, step.Processes = part.findings, part.processes
	step.Next = landfall.InspectionPosition{Stage: stages[at].name, After: part.next}
	if part.next == "" {
		if step.Done = at+1 == len(stages); !step.Done {
			step.Next.Stage = stages[at+1].name
		}
	}
	return step, err
}

// atOnce is a stage of one step, for checks that divide their work themselves.
func atOnce(check func(*Store, context.Context, int, func(landfall.Inspection, error) bool) bool) func(context.Context, *Store, string) (inspectPart, error) {
	return func(ctx context.Context, s *Store, _ string) (part inspectPart, err error) {
		check(s, ctx, 0, func(seen landfall.Inspection, failed error) bool {
			if err = failed; seen.Finding != nil {
				part.findings = append(part.findings, *seen.Finding)
			}
			return failed == nil
		})
		return part, err
	}
}

// inspectBatch is how many processes are inspected in one transaction.
const inspectBatch = 200

// inspectAccounts checks the next processes.
func inspectAccounts(ctx context.Context, s *Store, position string) (part inspectPart, err error) {
	after, _ := strconv.ParseInt(position, 10, 64) // "" is the beginning
	var last, count int64
	err = s.View(ctx, func(reader landfall.View) (err error) {
		v := reader.(*view) //nolint:forcetypeassert // it is this store's
		if err := v.one(ctx, `SELECT coalesce(max(id), 0), count(*) FROM
			(SELECT id FROM process WHERE id > $1 ORDER BY id LIMIT $2) AS batch`,
			[]any{after, int64(inspectBatch)}, []any{&last, &count}); err != nil || count == 0 {
			return err
		}
		part.findings, err = v.inspect(ctx, after, last)
		return err
	})
	switch {
	case err != nil && last > after:
		part.next = strconv.FormatInt(last, 10)
	case err == nil && count > 0:
		part.next, part.processes = strconv.FormatInt(last, 10), int(count)
	}
	return part, err
}

// inspectSealed opens every encrypted value of a table. It names those that were
// altered or moved, and those in the clear if everything was encrypted.
func inspectSealed(r *tableRekeyer) func(context.Context, *Store, string) (inspectPart, error) {
	return func(ctx context.Context, s *Store, position string) (part inspectPart, err error) {
		at := rekeyState{}
		if position != "" {
			if at.after, err = readKey([]byte(position)); err != nil {
				return part, err
			}
		}
		problems, more := []string(nil), false
		err = s.stream(ctx, func(v *view) error {
			now := at
			_, more, err = r.readPage(ctx, v, &now)
			problems, part.next = now.problems, position
			if err == nil {
				key, failed := json.Marshal(now.after)
				part.next, err = string(key), failed
			}
			return err
		})
		for _, problem := range problems {
			part.findings = append(part.findings, landfall.Finding{What: problem})
		}
		if err != nil || !more {
			part.next = ""
		}
		return part, err
	}
}

// InspectSealed checks the encrypted values of at most so many rows of each table,
// for a quick look. It reports whether it saw all of them.
func (s *Store) InspectSealed(ctx context.Context, rows int) (found []landfall.Finding, all bool, err error) {
	all = true
	for _, stage := range s.inspectStages() {
		if !strings.HasPrefix(stage.name, sealedStage) {
			continue
		}
		after := ""
		for seen := 0; seen < rows; seen += rekeyBatch {
			part, err := stage.step(ctx, s, after)
			if found = append(found, part.findings...); err != nil {
				return found, false, err
			}
			if after = part.next; after == "" {
				break
			}
		}
		all = all && after == ""
	}
	return found, all, nil
}
