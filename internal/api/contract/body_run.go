package contract

import (
	"time"

	"landfall"
)

// RunBody tells how a run stands.
var RunBody = &Body[landfall.Run]{
	name: "Run", doc: "A migration that the service does by itself.",
	members: []member[landfall.Run]{
		stringMember("id", "", func(r landfall.Run) string { return r.ID }),
		stringMember("import_supplier_code", "", func(r landfall.Run) string { return r.Plan.Supplier }),
		stringMember("operations_team_name", "", func(r landfall.Run) string { return r.Plan.Team }),
		boolMember("dry_run", "", func(r landfall.Run) bool { return r.Plan.DryRun }),
		stringMember("select", "", func(r landfall.Run) string { return string(r.Plan.Select) }).withSchema(enumSchema(selections()...)),
		nullableInt("sample", "Every so manieth account; null for all.", func(r landfall.Run) int { return r.Plan.Sample }),
		nullableInt("limit", "At most so many accounts; null for all.", func(r landfall.Run) int { return r.Plan.Limit }),
		nullableInt("at_once", "Accounts side by side; null leaves it to the service.", func(r landfall.Run) int { return r.Plan.Concurrency }),
		nullableTime("not_before", "", func(r landfall.Run) time.Time { return r.Plan.NotBefore }),
		nullableTime("not_after", "", func(r landfall.Run) time.Time { return r.Plan.NotAfter }),
		stringMember("state", "", func(r landfall.Run) string { return string(r.State) }).withSchema(enumSchema(runStates()...)),
		nullableString("reason", "Why it is paused, or about to be; null when it is not.", func(r landfall.Run) (string, bool) {
			// A run that was asked to end goes on until nobody holds a part of it: the
			// caller would wonder why it still runs.
			if r.Cancel && !r.State.Ended() {
				return "cancel_asked", true
			}
			return string(r.Reason), r.Reason != ""
		}),
		intMember("selected", "How many accounts it is about; fixed when it starts.", func(r landfall.Run) int { return r.Tally.Selected }),
		intMember("succeeded", "Accounts that were created, or would have been.", func(r landfall.Run) int { return r.Tally.Succeeded }),
		intMember("failed", "Accounts whose data was at fault.", func(r landfall.Run) int { return r.Tally.Failed }),
		intMember("refused", "Accounts that others took or that were skipped meanwhile.", func(r landfall.Run) int { return r.Tally.Refused }),
		intMember("remaining", "Accounts without an outcome.", func(r landfall.Run) int { return r.Tally.Remaining() }),
		rawMember("accounts_per_second", "Over the time it has been running; null when that is not known yet.", nullableNumberSchema, runRate),
		nullableTime("expected_end", "At that pace; null unless it is running.", func(r landfall.Run) time.Time { return r.ExpectedEnd() }),
		nullableTime("created_at", "", func(r landfall.Run) time.Time { return r.CreatedAt }),
		nullableTime("started_at", "Everything staged by then is selected.", func(r landfall.Run) time.Time { return r.StartedAt }),
		nullableTime("ended_at", "", func(r landfall.Run) time.Time { return r.EndedAt }),
		nullableString("created_by", "The API key that started it.", func(r landfall.Run) (string, bool) {
			return r.CreatedBy.KeyID, r.CreatedBy.KeyID != ""
		}),
		rawMember("estimate", "For a sample, what it says about the whole: the share that passes, with its 95 % interval. Null else.",
			estimateSchema, runEstimate),
	},
	example: landfall.Run{
		ID: "R-7K2M9QXZ", State: landfall.RunRunning, Chosen: true, RunningTime: 50 * time.Second, ReadAt: exampleInstant.Add(time.Minute),
		Plan:      landfall.RunPlan{Supplier: "DEMO_ENERGY", Team: "Migration Team", Select: landfall.SelectPending},
		Tally:     landfall.RunTally{Selected: 100_000, Succeeded: 62_000, Failed: 480, Refused: 20},
		CreatedAt: exampleInstant, StartedAt: exampleInstant, CreatedBy: landfall.Author{KeyID: "lf_k3y"},
	},
}

// RunsBody answers the question which runs there were.
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

// nullableInt is a member that is a whole number, null when it is zero.
func nullableInt[T any](name, doc string, get func(T) int) member[T] {
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

// runRate writes the pace with three decimals, without a binary float on the
// way; null before there is one.
func runRate(r landfall.Run) []byte {
	if rate := r.PerThousandSeconds(); rate > 0 {
		return appendScaled(nil, rate, 3)
	}
	return []byte("null")
}

// runEstimate writes the share that will succeed with its bounds; null while
// too few have been tried to say.
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
