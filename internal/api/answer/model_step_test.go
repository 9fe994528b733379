package answer_test

import (
	"encoding/json"
	"net/http"

	"pgregory.net/rapid"

	"landfall"
	"landfall/internal/api/answer"
)

// fails returns a failure with the next clock value.
func (m *model) fails(code, at string) modelledFailure {
	m.clock++
	return modelledFailure{code: code, at: at, clock: m.clock}
}

func (m *model) stage(r *rapid.T) {
	m.stageAs(r, m.somebody(r), rapid.SampledFrom(sampleDocuments).Draw(r, "document"))
}

func (m *model) stageAs(r failer, external string, sent *sampleDocument) {
	known := m.processes[external]
	told := m.ask(r, answer.Stage, answer.Call{Body: sent.document(m.code, external)})
	refuse := func(code string, onRecord bool) {
		m.expect(r, "stage", told, http.StatusBadRequest, code)
		// A refused staging is not recorded for an account that exists or is
		// skipped.
		if onRecord && (known == nil || known.account == nil && !known.skipped) {
			m.refusals[external] = m.fails(code, "STAGING")
		}
	}
	switch {
	case sent.broken:
		refuse(landfall.CodeAccountFailedValidation, true)
	case known != nil && known.account != nil:
		refuse(landfall.CodeAlreadyImported, false)
		m.same(r, told, known)
	case m.status != landfall.Ongoing:
		refuse(landfall.CodeSupplierNotOngoing, true)
	case known != nil && known.skipped:
		refuse(landfall.CodeMarkedAsSkipped, false)
	case known == nil:
		m.expect(r, "stage", told, http.StatusCreated, "")
		m.processes[external] = &modelled{staged: []*sampleDocument{sent}}
		m.order = append(m.order, external)
		delete(m.refusals, external)
	default:
		m.expect(r, "stage", told, http.StatusOK, "")
		if known.current() != sent {
			known.staged = append(known.staged, sent)
		}
		delete(m.refusals, external)
	}
}

// same compares the number in an answer with the account's.
func (m *model) same(r failer, told said, known *modelled) {
	if told.Number != known.account.number {
		r.Fatalf("got %s, the account is %s", told.Number, known.account.number)
	}
}

func (m *model) process(r *rapid.T) { m.attempt(r, m.somebody(r), false) }

func (m *model) dryRun(r *rapid.T) { m.attempt(r, m.somebody(r), true) }

func (m *model) attempt(r failer, external string, dry bool) {
	known := m.processes[external]
	body, err := json.Marshal(map[string]any{
		"import_supplier_code": m.code, "external_account_number": external, "operations_team_name": team, "dry_run": dry,
	})
	if err != nil {
		r.Fatal(err)
	}
	told := m.ask(r, answer.Process, answer.Call{Body: body})
	refused := func(code string) { m.expect(r, "process", told, http.StatusBadRequest, code) }
	switch {
	case known != nil && known.account != nil:
		refused(landfall.CodeAlreadyImported)
		m.same(r, told, known)
	case m.status != landfall.Ongoing:
		refused(landfall.CodeSupplierNotOngoing)
	case known == nil:
		refused(landfall.CodeProcessUnknown)
	case known.skipped:
		refused(landfall.CodeMarkedAsSkipped)
	case known.current().doomed:
		refused(landfall.CodeInstructionNotFound)
		at := map[bool]string{false: "PROCESS", true: "DRY_RUN"}[dry]
		failure := m.fails(landfall.CodeInstructionNotFound, at)
		known.failure = &failure
	case dry:
		refused(landfall.CodeDryRunRolledBack)
		known.failure = nil
	default:
		m.expect(r, "process", told, http.StatusCreated, "")
		m.create(r, known, told.Number)
	}
}

// create creates an account from the latest staged document. Its number is the one
// it had before, or one that no account ever had.
func (m *model) create(r failer, known *modelled, number string) {
	if len(known.undone) > 0 && number != known.undone[0] || len(known.undone) == 0 && m.retired[number] || !landfall.ValidAccountNumber(number) {
		r.Fatalf("the number %q was given", number)
	}
	known.failure = nil
	known.account = &modelledAccount{number: number, figures: known.current().figures, has: map[string]bool{}, refused: map[landfall.PostingKind]bool{}}
	for _, thing := range known.current().inline {
		known.account.has[thing] = true
	}
}

func (m *model) undo(r *rapid.T) { m.undoOf(r, m.somebody(r)) }

func (m *model) undoOf(r failer, external string) {
	known := m.processes[external]
	outcome, err := m.operator.Undo(m.ctx, m.key(external), "the model says so")
	want := ""
	switch {
	case known == nil:
		want = landfall.CodeProcessUnknown
	case known.account == nil:
		want = landfall.CodeAccountNotFound
	case !m.undoable:
		want = landfall.CodeWindowOver
	case known.account.posted:
		want = landfall.CodeHasPostings
	}
	m.refusedWith(r, "undo", err, want)
	if want == "" {
		if outcome.Number != known.account.number {
			r.Fatalf("undid %+v, the account is %s", outcome, known.account.number)
		}
		m.undoAccount(known)
	}
}

func (m *model) undoAccount(known *modelled) {
	m.retired[known.account.number] = true
	known.undone = append(known.undone, known.account.number)
	if run := known.account.run; run != nil {
		run.undone++
	}
	known.account = nil
}

func (m *model) skip(r *rapid.T) { m.skipOf(r, m.somebody(r)) }

func (m *model) skipOf(r failer, external string) {
	known := m.processes[external]
	err := m.operator.Skip(m.ctx, m.key(external), "")
	switch {
	case known == nil: // the skip mark alone creates a process
		m.refusedWith(r, "skip", err, "")
		m.processes[external] = &modelled{skipped: true}
		m.order = append(m.order, external)
	case known.account != nil:
		m.refusedWith(r, "skip", err, landfall.CodeAlreadyImported)
	case known.skipped:
		m.refusedWith(r, "skip", err, landfall.CodeMarkedAsSkipped)
	default:
		m.refusedWith(r, "skip", err, "")
		known.skipped = true
	}
}

func (m *model) unskip(r *rapid.T) { m.unskipOf(r, m.somebody(r)) }

func (m *model) unskipOf(r failer, external string) {
	known := m.processes[external]
	err := m.operator.Unskip(m.ctx, m.key(external), "")
	switch {
	case known == nil:
		m.refusedWith(r, "unskip", err, landfall.CodeProcessUnknown)
	case !known.skipped:
		m.refusedWith(r, "unskip", err, landfall.CodeValidationFailed)
	default:
		m.refusedWith(r, "unskip", err, "")
		known.skipped = false
		if len(known.staged) == 0 { // it had only its skip mark
			m.forget(external)
		}
	}
}
