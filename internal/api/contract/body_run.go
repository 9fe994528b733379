package contract

import (
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// RunBody describes a run.
var RunBody = &Body[landfall.Run]{
	name: "Run", doc: "A run: the service creates accounts in the background.",
	members: []bodyMember[landfall.Run]{
		stringMember("id", "", func(r landfall.Run) string { return r.ID }),
		stringMember("import_supplier_code", "", func(r landfall.Run) string { return r.Plan.Supplier }),
		stringMember("operations_team_name", "", func(r landfall.Run) string { return r.Plan.Team }),
		boolMember("dry_run", "", func(r landfall.Run) bool { return r.Plan.DryRun }),
		rawMember("select", "As in the request: a text, or an object if it was narrowed. Instead of the `accounts` it says how many there were.",
			selectionSchema, runSelection),
		nullableInt("sample", "Every Nth account; null for all.", func(r landfall.Run) int { return r.Plan.Sample }),
		nullableInt("limit", "Maximum number of accounts; null for all.", func(r landfall.Run) int { return r.Plan.Limit }),
		nullableInt("at_once", "Maximum number of accounts processed at the same time; null if the service decides.", func(r landfall.Run) int { return r.Plan.Concurrency }),
		nullableTime("not_before", "", func(r landfall.Run) time.Time { return r.Plan.NotBefore }),
		nullableTime("not_after", "", func(r landfall.Run) time.Time { return r.Plan.NotAfter }),
		stringMember("state", "", func(r landfall.Run) string { return string(r.State) }).withSchema(enumSchema(runStates()...)),
		nullableString("reason", "Why the run is paused or about to pause; null otherwise.", func(r landfall.Run) (string, bool) {
			// A cancelled run stays active until its accounts in progress are finished.
			// Say why, so that the caller does not wonder.
			if r.Cancel && !r.State.Ended() {
				return "cancel_asked", true
			}
			return string(r.Reason), r.Reason != ""
		}),
		intMember("selected", "Number of accounts in the run. It is fixed when the run starts.", func(r landfall.Run) int { return r.Tally.Selected }),
		intMember("succeeded", "Accounts that were created, or would have been in a dry run.", func(r landfall.Run) int { return r.Tally.Succeeded }),
		intMember("failed", "Accounts that failed because of their data.", func(r landfall.Run) int { return r.Tally.Failed }),
		intMember("refused", "Accounts that were processed by someone else or marked as skipped in the meantime.", func(r landfall.Run) int { return r.Tally.Refused }),
		intMember("remaining", "Accounts that have no result yet.", func(r landfall.Run) int { return r.Tally.Remaining() }),
		rawMember("accounts_per_second", "Throughput while the run was running; null if not yet known.", nullableNumberSchema, runRate),
		nullableTime("expected_end", "Estimate based on the throughput; null unless the run is running.", func(r landfall.Run) time.Time { return r.ExpectedEnd() }),
		nullableTime("created_at", "", func(r landfall.Run) time.Time { return r.CreatedAt }),
		nullableTime("started_at", "Start time. The run includes everything staged by then.", func(r landfall.Run) time.Time { return r.StartedAt }),
		nullableTime("ended_at", "", func(r landfall.Run) time.Time { return r.EndedAt }),
		nullableString("created_by", "API key that started the run.", func(r landfall.Run) (string, bool) {
			return r.CreatedBy.KeyID, r.CreatedBy.KeyID != ""
		}),
		rawMember("estimate", "For a sample: estimated share of all accounts that will pass, with its 95 % confidence interval. Null otherwise.",
			estimateSchema, runEstimate),
	},
	example: landfall.Run{
		ID: "R-7K2M9QXZ", State: landfall.RunRunning, Chosen: true, RunningTime: 50 * time.Second, ReadAt: exampleInstant.Add(time.Minute),
		Plan:      landfall.RunPlan{Supplier: "DEMO_ENERGY", Team: "Migration Team", Select: landfall.SelectPending},
		Tally:     landfall.RunTally{Selected: 100_000, Succeeded: 62_000, Failed: 480, Refused: 20},
		CreatedAt: exampleInstant, StartedAt: exampleInstant, CreatedBy: landfall.Author{KeyID: "lf_k3y"},
	},
}

// RunsBody is a list of runs.
var RunsBody = &List[landfall.Run]{name: "RunList", items: RunBody}

// runStates lists the states for the schema.
func runStates() []string {
	texts := make([]string, len(landfall.RunStates))
	for i, state := range landfall.RunStates {
		texts[i] = string(state)
	}
	return texts
}

var (
	nullableNumberSchema  = map[string]any{"type": []string{"number", "null"}, "format": "double"}
	nullableIntegerSchema = map[string]any{"type": []string{"integer", "null"}}
	estimateSchema        = map[string]any{
		"type": []string{"object", "null"}, "additionalProperties": false, "required": []string{"share", "low", "high"},
		"properties": map[string]any{
			"share": map[string]any{"type": "number", "format": "double"},
			"low":   map[string]any{"type": "number", "format": "double"},
			"high":  map[string]any{"type": "number", "format": "double"},
		},
	}
)

// nullableInt is a member that is an integer, or null if it is zero.
func nullableInt[T any](name, doc string, get func(T) int) bodyMember[T] {
	member := intMember(name, doc, get).withSchema(nullableIntegerSchema)
	write := member.write
	member.write = func(dst []byte, value T) []byte {
		if get(value) == 0 {
			return append(dst, "null"...)
		}
		return write(dst, value)
	}
	return member
}

// selectionSchema describes the two forms of a selection.
var selectionSchema = map[string]any{"oneOf": []any{
	map[string]any{"type": "string", "enum": selections()},
	map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"state"},
		"properties": map[string]any{
			"state":         map[string]any{"type": "string", "enum": selections()},
			"delivery":      map[string]any{"type": "string"},
			"account_count": map[string]any{"type": "integer"},
			"codes":         map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		},
	},
}}

// runSelection writes the selection of a run. A list of accounts is not repeated,
// because it may be long.
func runSelection(r landfall.Run) []byte {
	plan := r.Plan
	if !plan.Narrowed() {
		return rules.AppendString(nil, string(plan.Select))
	}
	dst := rules.AppendString([]byte(`{"state":`), string(plan.Select))
	if plan.Delivery != "" {
		dst = rules.AppendString(append(dst, `,"delivery":`...), plan.Delivery)
	}
	if plan.AccountCount > 0 {
		dst = strconv.AppendInt(append(dst, `,"account_count":`...), int64(plan.AccountCount), 10)
	}
	if len(plan.Codes) > 0 {
		dst = append(dst, `,"codes":[`...)
		for _, code := range plan.Codes {
			dst = rules.AppendString(rules.AppendComma(dst), code)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// runRate writes the throughput with three decimals, without a binary float;
// null if it is not known yet.
func runRate(r landfall.Run) []byte {
	if rate := r.PerThousandSeconds(); rate > 0 {
		return appendScaled(nil, rate, 3)
	}
	return []byte("null")
}

// runEstimate writes the estimated success rate with its bounds; null while too
// few accounts have been tried.
func runEstimate(r landfall.Run) []byte {
	estimate, known := r.Estimate()
	if !known {
		return []byte("null")
	}
	dst := []byte(`{"share":`)
	dst = append(appendScaled(dst, int64(estimate.Share), 4), `,"low":`...)
	dst = append(appendScaled(dst, int64(estimate.Low), 4), `,"high":`...)
	return append(appendScaled(dst, int64(estimate.High), 4), '}')
}
