package crashtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/test/crashtest"
)

// A checker that never found a fault would be worthless. Each control injects
// one fault, which must be found and named.
func TestCheckerFindsEveryInjectedFault(t *testing.T) {
	for name, control := range map[string]struct {
		lie  func(s *story, m, w *crashtest.Found)
		want string
	}{
		"lost staging": {func(_ *story, m, _ *crashtest.Found) { m.Revisions = revisionsOf("second"); m.Account.Revision = 1 }, "a staging was answered and is lost"},
		"staging kept twice": {func(_ *story, m, _ *crashtest.Found) {
			m.Revisions = revisionsOf("second", "first", "second")
			m.Account.Revision = 3
		}, "kept 2 times, sent 1"},
		"revision repeated": {func(_ *story, m, _ *crashtest.Found) {
			m.Revisions = revisionsOf("first", "first", "second")
			m.Account.Revision = 3
		}, "repeats the one before"},
		"revision out of order": {func(_ *story, m, _ *crashtest.Found) { m.Revisions = revisionsOf("second", "first") }, "was sent after revision"},
		"revision nobody sent":  {func(_ *story, _, w *crashtest.Found) { w.Revisions = revisionsOf("patient", "intruder") }, "was sent by nobody"},
		"refused staging kept": {func(_ *story, m, _ *crashtest.Found) {
			m.Revisions = revisionsOf("first", "second", "late")
			m.Account.Revision = 3
		}, "kept 1 times, sent 0"},
		"revision number skipped": {func(_ *story, _, w *crashtest.Found) { w.Revisions[0].Revision = 2 }, "is at position"},
		"two first stagings": {func(s *story, _, w *crashtest.Found) {
			s.say(stagingOf(waitingKey, "other"), answered(http.StatusCreated, "", ""))
			w.Revisions = revisionsOf("patient", "other")
		}, "2 callers were told that they staged it first"},

		"lost account": {func(_ *story, m, _ *crashtest.Found) {
			*m = crashtest.Found{Status: "UNKNOWN", All: []string{""}, Pending: []string{""}, Process: &landfall.Process{State: landfall.Staged}, Revisions: m.Revisions}
		}, "which is lost"},
		"two creations": {func(s *story, _, _ *crashtest.Found) {
			s.say(process, answered(http.StatusCreated, "", firstNumber))
			s.say(process, answered(http.StatusCreated, "", firstNumber))
		}, "2 callers were told that they created"},
		"another number told": {func(s *story, _, _ *crashtest.Found) {
			s.say(process, answered(http.StatusBadRequest, landfall.CodeAlreadyImported, otherNumber))
		}, "was told of account " + otherNumber},
		"account of a dry run": {func(_ *story, m, w *crashtest.Found) {
			account := *m.Account
			account.Revision, account.Number = 1, otherNumber
			w.Account = &account
		}, "waiting: has an account that nobody asked for"},
		"dry run like a creation":    {func(s *story, _, _ *crashtest.Found) { s.say(dryRun, answered(http.StatusCreated, "", "")) }, "a dry run was answered like a creation"},
		"account of an old document": {func(_ *story, m, _ *crashtest.Found) { m.Account.Revision = 1 }, "made from revision 1 of 2"},
		"account of two documents":   {func(_ *story, m, _ *crashtest.Found) { m.Account.Data.BillingName = "first" }, `the account is "first"`},
		"half an account":            {func(_ *story, m, _ *crashtest.Found) { m.Account.Data.Customers = m.Account.Data.Customers[:1] }, "with 1 customers"},
		"mail missing":               {func(_ *story, m, _ *crashtest.Found) { m.Mails = 0 }, "0 mails are queued"},
		"one number for two": {func(s *story, m, w *crashtest.Found) {
			s.say(crashtest.Intent{Verb: crashtest.Process, Key: waitingKey}, answered(http.StatusCreated, "", firstNumber))
			account := *m.Account
			w.Account = &account
		}, "share the number"},

		"staged and then not": {func(s *story, _, _ *crashtest.Found) {
			s.say(dryRun, answered(http.StatusBadRequest, landfall.CodeProcessUnknown, ""))
		}, "told that it is not"},
		"staged after import": {func(s *story, _, _ *crashtest.Found) {
			s.say(stagingOf(made, "second"), answered(http.StatusOK, "", ""))
		}, "was imported, and the next caller was answered 200"},
		"in progress after import": {func(s *story, _, _ *crashtest.Found) {
			s.say(process, answered(http.StatusBadRequest, landfall.CodeImportInProgress, ""))
		}, "was imported, and the next caller was answered 400 account_import_in_progress"},
		"account not found after import": {func(s *story, _, _ *crashtest.Found) {
			s.say(noteOn(made, "x"), answered(http.StatusNotFound, landfall.CodeAccountNotFound, ""))
		}, "found no account for notes"},

		"status with another number": {func(_ *story, m, _ *crashtest.Found) { m.StatusNumber = otherNumber }, "status shows"},
		"status behind":              {func(_ *story, m, _ *crashtest.Found) { m.Status, m.StatusNumber = "UNKNOWN", "" }, "status shows"},
		"claim never ends":           {func(_ *story, _, w *crashtest.Found) { w.Status, w.Process.State = "IN_PROGRESS", landfall.Claimed }, "is left claimed"},
		"list with another number":   {func(_ *story, m, _ *crashtest.Found) { m.Imported = []string{otherNumber} }, "the imported list"},
		"twice in a list":            {func(_ *story, _, w *crashtest.Found) { w.Pending = []string{"", ""} }, "the pending list"},
		"missing in a list":          {func(_ *story, m, _ *crashtest.Found) { m.All = nil }, "the all list"},
		"key nobody named": {func(s *story, _, _ *crashtest.Found) {
			s.state.Found[landfall.Key{Supplier: "S", External: "ghost"}] = &crashtest.Found{}
		}, "ghost: is there although nobody asked"},
		"stray rows": {func(s *story, _, _ *crashtest.Found) {
			s.state.Strays = []string{"3 rows of note belong to no account"}
		}, "3 rows of note"},

		"lost note":             {func(_ *story, m, _ *crashtest.Found) { dropNote(m, "n1"); dropNote(m, "n2") }, "2 of 2 notes were answered and are lost"},
		"half a batch answered": {func(_ *story, m, _ *crashtest.Found) { dropNote(m, "n1") }, "1 of 2 notes were answered and are lost"},
		"half a batch":          {func(_ *story, m, _ *crashtest.Found) { addNote(m, "never") }, "half a batch: 1 of 2 notes"},
		"note twice":            {func(_ *story, m, _ *crashtest.Found) { addNote(m, "n1") }, "note n1 is there 2 times"},
		"note nobody sent":      {func(_ *story, m, _ *crashtest.Found) { addNote(m, "ghost") }, "note ghost is there although nobody asked"},
		"note added for two": {func(s *story, _, _ *crashtest.Found) {
			s.say(noteOn(made, "n1", "n2"), answered(http.StatusCreated, "", "", true, true))
		}, "note n1 was added for 2 callers"},
		"note added by nobody": {func(s *story, m, _ *crashtest.Found) {
			s.say(noteOn(made, "odd"), answered(http.StatusCreated, "", "", false))
			addNote(m, "odd")
		}, "no response says that it was added"},
		"inline note missing": {func(_ *story, m, _ *crashtest.Found) { dropNote(m, "inline second") }, "note inline second of the staged document is missing"},

		"lost transaction": {func(s *story, _, _ *crashtest.Found) {
			s.say(postTo(made, crashtest.Movement{ID: "gone", Signed: 1}), answered(http.StatusCreated, "", "", true))
		}, "1 of 1 transactions were answered and are lost"},
		"half a batch of transactions":    {func(_ *story, m, _ *crashtest.Found) { dropEntry(m, "t1") }, "half a batch: 1 of 2 transactions"},
		"transaction twice":               {func(_ *story, m, _ *crashtest.Found) { addEntry(m, "t1", -300) }, "transaction t1 is there 2 times"},
		"transaction with another amount": {func(_ *story, m, _ *crashtest.Found) { dropEntry(m, "t1"); addEntry(m, "t1", -301) }, "moves the balance by -301"},
		"broken batch kept":               {func(_ *story, m, _ *crashtest.Found) { addEntry(m, "b1", 1) }, "1 of 2 transactions of a batch that breaks a rule are there"},
		"broken batch accepted": {func(s *story, _, _ *crashtest.Found) {
			intent := postTo(made, crashtest.Movement{ID: "b3"})
			intent.Broken = true
			s.say(intent, answered(http.StatusCreated, "", "", true))
		}, "that break a rule were accepted"},
		"unchecked too often": {func(_ *story, m, _ *crashtest.Found) { addEntry(m, "twice", 7) }, "transaction twice is there 3 times"},
		"unchecked lost":      {func(_ *story, m, _ *crashtest.Found) { dropEntry(m, "twice") }, "transactions were answered and are lost"},
		"half a batch the second time": {func(s *story, m, _ *crashtest.Found) {
			intent := postTo(made, crashtest.Movement{ID: "u1", Signed: 1}, crashtest.Movement{ID: "u2", Signed: 1})
			intent.Unchecked = true
			s.say(intent, answered(http.StatusCreated, "", "", true, true))
			s.say(intent, nil)
			addEntry(m, "u1", 1)
			addEntry(m, "u2", 1)
			addEntry(m, "u2", 1)
		}, "half a batch: u1 is there 1 times, u2 2 times"},
		"moved without a note": {func(_ *story, m, _ *crashtest.Found) { dropNote(m, "moved: t2") }, "0 pinned notes say so"},
		"note of nothing moved": {func(_ *story, m, _ *crashtest.Found) {
			m.Account.Data.Notes = append(m.Account.Data.Notes, landfall.Note{Body: "moved: b2", Pinned: true})
		}, "names transaction b2, which is not there"},
		"balance off":         {func(_ *story, m, _ *crashtest.Found) { m.Account.Balance++ }, "the balance is 312"},
		"running balance off": {func(_ *story, m, _ *crashtest.Found) { m.Account.Ledger[2].Balance++ }, "ledger entry 3"},
		"sequence off":        {func(_ *story, m, _ *crashtest.Found) { m.Account.Ledger[2].Sequence++ }, "ledger entry 3"},

		"no event":              {func(_ *story, m, _ *crashtest.Found) { m.Events = m.Events[1:] }, "0 events tell of 1 accounts"},
		"event of another":      {func(_ *story, m, _ *crashtest.Found) { m.Events[0].AccountNumber = otherNumber }, "an event tells of account"},
		"event twice":           {func(_ *story, m, _ *crashtest.Found) { m.Events = append(m.Events, m.Events[0]) }, "2 events tell of 1 accounts"},
		"notes without event":   {func(_ *story, m, _ *crashtest.Found) { m.Events = slices.Delete(m.Events, 1, 2) }, "events tell of 0 notes"},
		"transactions off":      {func(_ *story, m, _ *crashtest.Found) { m.Events = m.Events[:4] }, "events tell of 3 transactions"},
		"dry run not recorded":  {func(_ *story, _, w *crashtest.Found) { w.Events = nil }, "0 events tell of account_import.dry_run_completed, 1 such attempts"},
		"dry run nobody asked":  {func(_ *story, _, w *crashtest.Found) { w.Events = append(w.Events, w.Events[0]) }, "2 events tell of attempts by dry run, 1 can have been"},
		"creation of a dry run": {func(_ *story, _, w *crashtest.Found) { w.Events[0].Type = landfall.EventImportCompleted }, "1 events tell of 0 accounts"},

		"lost statement":             {func(_ *story, m, _ *crashtest.Found) { dropStatement(m, "s1"); dropStatement(m, "s2") }, "2 of 2 statements were answered and are lost"},
		"half a batch of statements": {func(_ *story, m, _ *crashtest.Found) { addStatement(m, "s3") }, "half a batch: 1 of 2 statements"},
		"statement twice":            {func(_ *story, m, _ *crashtest.Found) { addStatement(m, "s1") }, "statements s1 is there 2 times"},
		"statement nobody sent":      {func(_ *story, m, _ *crashtest.Found) { addStatement(m, "ghost") }, "statements ghost is there although nobody asked"},
		"inline statement missing":   {func(_ *story, m, _ *crashtest.Found) { dropStatement(m, "inline second") }, "of the staged document is missing"},
		"statements without event":   {func(_ *story, m, _ *crashtest.Found) { dropEvents(m, landfall.EventStatementsCreated) }, "events tell of 0 statements"},
		"lost instruction":           {func(_ *story, m, _ *crashtest.Found) { m.Account.Data.Instructions = m.Account.Data.Instructions[:1] }, "1 of 1 instruction were answered and are lost"},
		"instruction twice":          {func(_ *story, m, _ *crashtest.Found) { addInstruction(m, "i1") }, "instruction i1 is there 2 times"},
		"instruction without event":  {func(_ *story, m, _ *crashtest.Found) { dropEvents(m, landfall.EventInstructionCreated) }, "events tell of 0 instructions"},
		"statements of no account": {func(s *story, _, _ *crashtest.Found) {
			s.say(statementsOn(made, "x"), answered(http.StatusBadRequest, landfall.CodeAccountNotFound, ""))
		}, "found no account for statements"},
		"broken staging accepted": {func(s *story, _, _ *crashtest.Found) {
			intent := stagingOf(waitingKey, "wrong")
			intent.Broken = true
			s.say(intent, answered(http.StatusOK, "", ""))
		}, "a staging that breaks a rule was accepted"},

		"failed attempt not recorded": {func(s *story, _, _ *crashtest.Found) { dropEvents(s.state.Found[hopeless], landfall.EventImportFailed) }, "0 events tell of account_import.failed, 1 such attempts"},
		"failed dry run not recorded": {func(s *story, _, _ *crashtest.Found) { dropEvents(s.state.Found[hopeless], landfall.EventDryRunFailed) }, "0 events tell of account_import.dry_run_failed, 1 such attempts"},
		"failed attempt told twice": {func(s *story, _, _ *crashtest.Found) {
			s.state.Found[hopeless].Events = append(s.state.Found[hopeless].Events, landfall.Event{Type: landfall.EventImportFailed})
		}, "2 events tell of attempts by process, 1 can have been"},
		"failure not kept":              {func(s *story, _, _ *crashtest.Found) { s.state.Found[hopeless].Process.Failure = nil }, "and no failure is kept"},
		"failure of another attempt":    {func(s *story, _, _ *crashtest.Found) { s.state.Found[hopeless].Process.Failure.DryRun = true }, "failure payment_instruction_not_found (dry run: true) is kept"},
		"failure after a clean dry run": {func(_ *story, _, w *crashtest.Found) { w.Process.Failure = &landfall.Failure{Code: "old"} }, "the last attempt succeeded, and failure old is kept"},
		"account of what cannot be": {func(s *story, m, _ *crashtest.Found) {
			account := *m.Account
			account.Revision, account.Number = 1, otherNumber
			s.state.Found[hopeless].Account = &account
		}, "with an instruction that its vendor does not know"},

		"refusal not on record": {func(s *story, _, _ *crashtest.Found) { s.state.Found[refused].Refusal = "" }, "that is not on record"},
		"refusal nobody met":    {func(_ *story, m, _ *crashtest.Found) { m.Refusal = "bad" }, "a refusal is on record, and nobody was refused"},
		"refusal kept after a staging": {func(s *story, _, _ *crashtest.Found) {
			s.say(stagingOf(refused, "fixed"), answered(http.StatusCreated, "", ""))
			s.state.Found[refused].Revisions = revisionsOf("fixed")
		}, "the refusal before it is still on record"},

		"undo not on record": {func(s *story, _, _ *crashtest.Found) {
			s.state.Found[undone].Undone = nil
		}, "was undone, and that is not on record"},
		"undo nobody asked for": {func(_ *story, m, _ *crashtest.Found) {
			m.Undone = []landfall.UndoneAccount{{Number: otherNumber, Reason: "undo"}}
		}, "undone and nobody asked for it"},
		"undo told to two": {func(s *story, _, _ *crashtest.Found) {
			s.say(takeBack, answered(http.StatusOK, "", undoneNumber))
			s.say(takeBack, answered(http.StatusOK, "", undoneNumber))
		}, "3 operators were told that they undid it, and it was undone 2 times"},
		"another number after an undo": {func(s *story, _, _ *crashtest.Found) {
			s.state.Found[undone].Undone[1].Number = otherNumber
		}, "had the number " + undoneNumber + " and then " + otherNumber},
		"kept for what its own delivery added": {func(s *story, m, _ *crashtest.Found) {
			account := *m.Account
			account.Number = undoneNumber
			s.state.Found[undone].Account = &account
			s.history = crashtest.History{}
			own := noteOn(undone, "own")
			own.Own = true
			s.say(own, answered(http.StatusCreated, "", "", true))
			s.say(takeBack, answered(http.StatusBadRequest, landfall.CodeHasPostings, ""))
		}, "and only its own delivery added something"},
		"undo for another reason": {func(s *story, _, _ *crashtest.Found) { s.state.Found[undone].Undone[0].Reason = "other" }, `undone with reason "other"`},
		"undo without an event":   {func(s *story, _, _ *crashtest.Found) { dropEvents(s.state.Found[undone], landfall.EventUndone) }, "0 events tell of 2 accounts that were undone"},
		"completed over another": {func(s *story, _, _ *crashtest.Found) {
			events := s.state.Found[undone].Events
			events[2], events[3] = events[3], events[2]
		}, "completed while there was one"},
		"number of an undone account given to another": {func(s *story, _, _ *crashtest.Found) {
			s.state.Found[undone].Undone[0].Number = firstNumber
		}, "share the number " + firstNumber},
		"account under the number of an undone one": {func(_ *story, m, _ *crashtest.Found) {
			m.Account.Number = undoneNumber
		}, "share the number " + undoneNumber},
		"mails of an undone account": {func(s *story, _, _ *crashtest.Found) { s.state.Found[undone].Mails = 1 }, "for the customers of no account"},
		"added to and gone": {func(s *story, _, _ *crashtest.Found) {
			s.say(noteOn(undone, "answered"), answered(http.StatusCreated, "", "", true))
		}, "1 of 1 notes were answered and are lost"},
		"kept and gone": {func(s *story, _, _ *crashtest.Found) {
			s.say(takeBack, answered(http.StatusBadRequest, landfall.CodeHasPostings, ""))
		}, "kept because something was added, and there is no account"},
		"told of a third account": {func(s *story, _, _ *crashtest.Found) {
			s.say(crashtest.Intent{Verb: crashtest.Process, Key: undone}, answered(http.StatusCreated, "", otherNumber))
		}, "which is lost"},
		"undo found no account": {func(s *story, _, _ *crashtest.Found) {
			s.say(crashtest.Intent{Verb: crashtest.Undo, Key: made}, answered(http.StatusBadRequest, landfall.CodeAccountNotFound, ""))
		}, "found no account for undo"},

		"lost mark": {func(s *story, _, _ *crashtest.Found) {
			found := s.state.Found[skipped]
			found.Events, found.Process.State = found.Events[:2], landfall.Staged
		}, "1 events tell of skip, 2 were answered"},
		"mark without effect":   {func(s *story, _, _ *crashtest.Found) { s.state.Found[skipped].Process.State = landfall.Staged }, "its events say skipped: true, its state says false"},
		"mark nobody set":       {func(_ *story, _, w *crashtest.Found) { w.Process.State = landfall.Skipped }, "its events say skipped: false, its state says true"},
		"mark told twice":       {func(s *story, _, _ *crashtest.Found) { dropEvents(s.state.Found[skipped], landfall.EventUnskipped) }, "comes twice in a row"},
		"skipped and in a list": {func(s *story, _, _ *crashtest.Found) { s.state.Found[skipped].All = []string{""} }, "skipped: the all list"},
		"tried past a mark": {func(s *story, _, _ *crashtest.Found) {
			s.say(crashtest.Intent{Verb: crashtest.DryRun, Key: skipped}, answered(http.StatusBadRequest, landfall.CodeDryRunRolledBack, ""))
		}, "was skipped, and the next caller was answered 400 dry_run_rolled_back"},
	} {
		t.Run(name, func(t *testing.T) {
			s := correctStory()
			control.lie(s, s.state.Found[made], s.state.Found[waitingKey])
			faults := crashtest.Check(&s.history, s.state)
			if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, control.want) }) {
				t.Errorf("found %q, want one that says %q", faults, control.want)
			}
		})
	}
}

func addNote(found *crashtest.Found, body string) {
	found.Account.Data.Notes = append(found.Account.Data.Notes, landfall.Note{Body: body})
}

func dropNote(found *crashtest.Found, body string) {
	notes := &found.Account.Data.Notes
	*notes = slices.DeleteFunc(*notes, func(note landfall.Note) bool { return note.Body == body })
}

func addStatement(found *crashtest.Found, id string) {
	found.Account.Data.Statements = append(found.Account.Data.Statements, landfall.Statement{ID: id})
}

func dropStatement(found *crashtest.Found, id string) {
	statements := &found.Account.Data.Statements
	*statements = slices.DeleteFunc(*statements, func(statement landfall.Statement) bool { return statement.ID == id })
}

func addInstruction(found *crashtest.Found, reference string) {
	found.Account.Data.Instructions = append(found.Account.Data.Instructions, landfall.Instruction{Reference: reference})
}

func dropEvents(found *crashtest.Found, kind landfall.EventType) {
	found.Events = slices.DeleteFunc(found.Events, func(event landfall.Event) bool { return event.Type == kind })
}

func addEntry(found *crashtest.Found, id string, signed money.Amount) {
	account := found.Account
	account.Balance += signed
	account.Ledger = append(account.Ledger, landfall.LedgerEntry{
		Sequence: len(account.Ledger) + 1, Kind: landfall.TransactionEntry, Signed: signed, Balance: account.Balance,
		Transaction: landfall.Transaction{ID: id},
	})
}

func dropEntry(found *crashtest.Found, id string) {
	ledger := &found.Account.Ledger
	*ledger = slices.DeleteFunc(*ledger, func(entry landfall.LedgerEntry) bool { return entry.Transaction.ID == id })
}
