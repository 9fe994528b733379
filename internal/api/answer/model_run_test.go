package answer_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"pgregory.net/rapid"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/service/operate"
)

func (m *model) run(r *rapid.T) {
	m.runOf(r, rapid.SampledFrom(landfall.RunSelections).Draw(r, "select"), rapid.IntRange(0, 2).Draw(r, "dry") == 0)
}

// runOf starts a run that creates the selected accounts, and applies the same to
// the maps.
func (m *model) runOf(r failer, selection landfall.RunSelection, dry bool) {
	body, err := json.Marshal(map[string]any{
		"import_supplier_code": m.code, "operations_team_name": team, "select": selection, "dry_run": dry,
	})
	if err != nil {
		r.Fatal(err)
	}
	told := m.ask(r, answer.StartRun, answer.Call{Body: body})
	if m.status != landfall.Ongoing {
		m.expect(r, "run", told, http.StatusBadRequest, landfall.CodeSupplierNotOngoing)
		return
	}
	m.expect(r, "run", told, http.StatusCreated, "")
	ended := m.await(r, told)
	run := &modelledRun{id: ended.ID, dry: dry}
	want := moved{ID: ended.ID, State: string(landfall.RunFinished)}
	var failed []string
	numbers := m.numbersShown(r)
	for _, external := range m.order {
		known := m.processes[external]
		tried := known.failure != nil
		if known.account != nil || known.skipped || selection == landfall.SelectFailed && !tried || selection == landfall.SelectUntried && tried {
			continue
		}
		want.Selected++
		switch {
		case known.current().doomed:
			want.Failed++
			failed = append(failed, external)
			failure := m.fails(landfall.CodeInstructionNotFound, map[bool]string{false: "PROCESS", true: "DRY_RUN"}[dry])
			known.failure = &failure
		case dry:
			want.Succeeded++
			known.failure = nil
		default:
			want.Succeeded++
			m.create(r, known, numbers[external])
			known.account.run = run
			run.created++
		}
	}
	if ended != want {
		r.Fatalf("the run is %+v, want %+v", ended, want)
	}
	m.ran = append(m.ran, run)
	m.compareRunFailures(r, run.id, failed)
}

// moved is a run as the model reads it.
type moved struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Selected  int    `json:"selected"`
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	Refused   int    `json:"refused"`
	Remaining int    `json:"remaining"`
}

// await waits until a run ends.
func (m *model) await(r failer, told said) moved {
	deadline := time.Now().Add(time.Minute)
	for {
		var run moved
		if err := json.Unmarshal(told.body, &run); err != nil {
			r.Fatal(err)
		}
		if landfall.RunState(run.State).Ended() {
			return run
		}
		if time.Now().After(deadline) {
			r.Fatalf("the run does not end: %s", told.body)
		}
		m.runs.Wake()
		time.Sleep(2 * time.Millisecond)
		told = m.ask(r, answer.Run, answer.Call{Path: [2]string{run.ID}})
	}
}

// numbersShown reads the numbers of all accounts, because a run does not report
// them.
func (m *model) numbersShown(r failer) map[string]string {
	var entries []listed
	m.read(r, answer.Imported, &entries)
	numbers := map[string]string{}
	for _, entry := range entries {
		numbers[entry.External] = *entry.Number
	}
	return numbers
}

func (m *model) compareRunFailures(r failer, id string, want []string) {
	told := m.ask(r, answer.RunFailures, answer.Call{Path: [2]string{id}})
	var entries []listed
	if err := json.Unmarshal(told.body, &entries); err != nil {
		r.Fatalf("failures of %s: %s", id, told.body)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.External)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.Fatalf("in the run %s %q failed, want %q", id, got, want)
	}
}

func (m *model) undoRun(r *rapid.T) {
	if len(m.ran) == 0 {
		r.Skip("there was no run")
	}
	m.undoRunOf(r, rapid.SampledFrom(m.ran).Draw(r, "run"))
}

// undoRunOf undoes the accounts of a run that still exist.
func (m *model) undoRunOf(r failer, run *modelledRun) {
	left := map[string]landfall.KeptReason{}
	undo, err := m.operator.UndoRun(m.ctx, run.id, "the model says so", operate.RunUndoWatch{Kept: func(remnant operate.KeptAccount) error {
		left[remnant.Key.External] = remnant.Kept
		return remnant.Err
	}})
	if run.dry {
		m.refusedWith(r, "undo of a dry run", err, landfall.CodeValidationFailed)
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	want, kept := map[string]landfall.KeptReason{}, map[landfall.KeptReason]int{}
	for external, known := range m.processes {
		switch {
		case known.account == nil || known.account.run != run:
			continue
		case !m.undoable:
			want[external] = landfall.KeptWindowOver
		case known.account.posted:
			want[external] = landfall.KeptHasPostings
		default:
			m.undoAccount(known)
			continue
		}
		kept[want[external]]++
	}
	if !maps.Equal(left, want) || !maps.Equal(undo.Kept, kept) || undo.Undone != run.undone || undo.Created != run.created || undo.Failed != 0 {
		r.Fatalf("undo %+v left %v, want %v of %d, %d undone", undo, left, want, run.created, run.undone)
	}
	if undo.Undone+undo.Left() != undo.Created {
		r.Fatalf("undo %+v does not add up", undo)
	}
}
