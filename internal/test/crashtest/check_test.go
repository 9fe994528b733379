package crashtest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/test/crashtest"
)

var (
	made       = landfall.Key{Supplier: "S", External: "made"}
	waitingKey = landfall.Key{Supplier: "S", External: "waiting"}
	hopeless   = landfall.Key{Supplier: "S", External: "hopeless"}
	skipped    = landfall.Key{Supplier: "S", External: "skipped"}
	undone     = landfall.Key{Supplier: "S", External: "undone"}
	refused    = landfall.Key{Supplier: "S", External: "refused"}
)

const (
	firstNumber, otherNumber = "A-00000001", "A-00000002"
	undoneNumber             = "A-00000003"
)

// story is a history and what was found after it. The correct story has no
// fault. Each control injects one fault, which the checker must find.
type story struct {
	history crashtest.History
	state   crashtest.State
}

func (s *story) say(intent crashtest.Intent, answer *crashtest.Answer) {
	entry := s.history.Begin(intent)
	if answer != nil {
		s.history.End(entry, *answer)
	}
}

func answered(status int, code, number string, added ...bool) *crashtest.Answer {
	return &crashtest.Answer{Status: status, Code: code, Number: number, Added: added}
}

func stagingOf(key landfall.Key, name string) crashtest.Intent {
	return crashtest.Intent{Verb: crashtest.Stage, Key: key, Document: name + "'s document", Name: name, Customers: 2,
		Notes: []string{"inline " + name}, Transactions: []crashtest.Movement{{ID: "inline " + name, Signed: 500}},
		Statements: []string{"inline " + name}, Instructions: []string{"inline " + name}}
}

func noteOn(key landfall.Key, bodies ...string) crashtest.Intent {
	return crashtest.Intent{Verb: crashtest.PostNotes, Key: key, Notes: bodies}
}

func postTo(key landfall.Key, movements ...crashtest.Movement) crashtest.Intent {
	return crashtest.Intent{Verb: crashtest.PostTransactions, Key: key, Transactions: movements}
}

func statementsOn(key landfall.Key, ids ...string) crashtest.Intent {
	return crashtest.Intent{Verb: crashtest.PostStatements, Key: key, Statements: ids}
}

func instructionOn(key landfall.Key, references ...string) crashtest.Intent {
	return crashtest.Intent{Verb: crashtest.PostInstruction, Key: key, Instructions: references}
}

var (
	process = crashtest.Intent{Verb: crashtest.Process, Key: made}
	failing = crashtest.Intent{Verb: crashtest.Process, Key: hopeless}
	skip    = crashtest.Intent{Verb: crashtest.Skip, Key: skipped}
	unskip  = crashtest.Intent{Verb: crashtest.Unskip, Key: skipped}

	takeBack = crashtest.Intent{Verb: crashtest.Undo, Key: undone}
	dryRun   = crashtest.Intent{Verb: crashtest.DryRun, Key: waitingKey}
	posted   = []crashtest.Movement{{ID: "t1", Signed: -300}, {ID: "t2", Signed: 100, Moved: true}}
)

// correctStory describes one account that was created, one that waits, one that
// cannot be created and one that is skipped, with every kind of response and
// with lost ones.
func correctStory() *story {
	s := &story{}
	s.say(stagingOf(made, "first"), answered(http.StatusCreated, "", ""))
	s.say(stagingOf(made, "second"), answered(http.StatusOK, "", ""))
	s.say(process, nil) // it happened
	s.say(process, answered(http.StatusBadRequest, landfall.CodeAlreadyImported, firstNumber))
	s.say(stagingOf(made, "late"), answered(http.StatusBadRequest, landfall.CodeAlreadyImported, firstNumber))
	s.say(noteOn(made, "n1", "n2"), answered(http.StatusCreated, "", "", true, true))
	s.say(noteOn(made, "n1", "n2"), answered(http.StatusCreated, "", "", false, false))
	s.say(noteOn(made, "never", "neither"), nil)
	s.say(postTo(made, posted...), answered(http.StatusServiceUnavailable, landfall.CodeServiceUnavailable, "")) // it happened
	broken := postTo(made, crashtest.Movement{ID: "b1", Signed: 1}, crashtest.Movement{ID: "b2", Signed: 1, Moved: true})
	broken.Broken = true
	s.say(broken, answered(http.StatusBadRequest, landfall.CodeOutsideOpenPeriod, ""))
	again := postTo(made, crashtest.Movement{ID: "twice", Signed: 7})
	again.Unchecked = true
	s.say(again, answered(http.StatusCreated, "", "", true))
	s.say(again, nil) // it happened too
	s.say(dryRun, answered(http.StatusBadRequest, landfall.CodeProcessUnknown, ""))
	s.say(stagingOf(waitingKey, "patient"), answered(http.StatusCreated, "", ""))
	s.say(dryRun, answered(http.StatusBadRequest, landfall.CodeDryRunRolledBack, ""))
	s.say(noteOn(waitingKey, "nowhere"), answered(http.StatusNotFound, landfall.CodeAccountNotFound, ""))

	s.say(statementsOn(made, "s1", "s2"), answered(http.StatusCreated, "", ""))
	s.say(statementsOn(made, "s1", "s2"), answered(http.StatusCreated, "", ""))
	s.say(statementsOn(made, "s3", "s4"), nil)
	s.say(instructionOn(made, "i1"), nil) // it happened
	s.say(instructionOn(made, "i1"), answered(http.StatusCreated, "", firstNumber))
	cannot := stagingOf(hopeless, "hopeless")
	cannot.Doomed = true
	s.say(cannot, answered(http.StatusCreated, "", ""))
	s.say(crashtest.Intent{Verb: crashtest.DryRun, Key: hopeless}, nil) // it happened
	s.say(crashtest.Intent{Verb: crashtest.DryRun, Key: hopeless}, answered(http.StatusBadRequest, landfall.CodeInstructionNotFound, ""))
	s.history.Quiet()
	s.say(failing, answered(http.StatusBadRequest, landfall.CodeInstructionNotFound, ""))
	s.say(stagingOf(skipped, "unwanted"), answered(http.StatusCreated, "", ""))
	s.say(skip, answered(http.StatusOK, "", ""))
	s.say(unskip, nil) // it happened
	s.say(unskip, answered(http.StatusBadRequest, "", ""))
	s.history.Quiet()
	s.say(skip, answered(http.StatusOK, "", ""))
	s.say(crashtest.Intent{Verb: crashtest.Process, Key: skipped}, answered(http.StatusBadRequest, landfall.CodeMarkedAsSkipped, ""))

	storyOfUndo(s)
	account := &landfall.Account{Number: firstNumber, Key: made, Revision: 2, Balance: 311, Data: landfall.AccountData{
		BillingName: "second", Customers: []landfall.Customer{{Email: "a@b"}, {}},
		Notes:        []landfall.Note{{Body: "inline second"}, {Body: "n1"}, {Body: "n2"}, {Body: "moved: t2", Pinned: true}},
		Statements:   []landfall.Statement{{ID: "inline second"}, {ID: "s1"}, {ID: "s2"}},
		Instructions: []landfall.Instruction{{Reference: "inline second"}, {Reference: "i1"}},
	}}
	for i, movement := range []crashtest.Movement{{Signed: -3}, {ID: "inline second", Signed: 500}, posted[0], posted[1], {ID: "twice", Signed: 7}, {ID: "twice", Signed: 7}} {
		entry := landfall.LedgerEntry{Sequence: i + 1, Kind: landfall.TransactionEntry, Signed: movement.Signed, Transaction: landfall.Transaction{ID: movement.ID}}
		if i == 0 {
			entry.Kind = landfall.OpeningEntry
		} else {
			entry.Balance = account.Ledger[i-1].Balance
		}
		entry.Balance += movement.Signed
		if movement.Moved {
			entry.Transaction.OriginalOn = calendar.Date(2020, time.February, 2)
		}
		account.Ledger = append(account.Ledger, entry)
	}
	event := func(kind landfall.EventType, count int) landfall.Event {
		return landfall.Event{Type: kind, AccountNumber: firstNumber, Details: map[string]string{"count": fmt.Sprint(count)}}
	}
	s.state.Found = map[landfall.Key]*crashtest.Found{
		made: {
			Status: "COMPLETED", StatusNumber: firstNumber, All: []string{firstNumber}, Imported: []string{firstNumber}, Mails: 1,
			Process: &landfall.Process{State: landfall.Imported, AccountNumber: firstNumber}, Account: account,
			Revisions: revisionsOf("first", "second"),
			Events: []landfall.Event{
				{Type: landfall.EventImportCompleted, AccountNumber: firstNumber}, event(landfall.EventNotesCreated, 2),
				event(landfall.EventTransactionsCreated, 2), event(landfall.EventTransactionsCreated, 1), event(landfall.EventTransactionsCreated, 1),
				event(landfall.EventStatementsCreated, 2), event(landfall.EventInstructionCreated, 1),
			},
		},
		waitingKey: {
			Status: "UNKNOWN", All: []string{""}, Pending: []string{""},
			Process: &landfall.Process{State: landfall.Staged}, Revisions: revisionsOf("patient"),
			Events: []landfall.Event{{Type: landfall.EventDryRunCompleted}},
		},
		hopeless: {
			Status: "UNKNOWN", All: []string{""}, Pending: []string{""}, Revisions: revisionsOf("hopeless"),
			Process: &landfall.Process{State: landfall.Staged, Failure: &landfall.Failure{Code: landfall.CodeInstructionNotFound}},
			Events:  []landfall.Event{{Type: landfall.EventDryRunFailed}, {Type: landfall.EventDryRunFailed}, {Type: landfall.EventImportFailed}},
		},
		skipped: {
			Status: "UNKNOWN", Process: &landfall.Process{State: landfall.Skipped}, Revisions: revisionsOf("unwanted"),
			Events: []landfall.Event{{Type: landfall.EventSkipped}, {Type: landfall.EventUnskipped}, {Type: landfall.EventSkipped}},
		},
		undone: {
			Status: "UNKNOWN", All: []string{""}, Pending: []string{""}, Revisions: revisionsOf("rash"),
			Process: &landfall.Process{State: landfall.Staged},
			Undone:  []landfall.UndoneAccount{{Number: undoneNumber, Reason: "undo"}, {Number: undoneNumber, Reason: "undo"}},
			Events: []landfall.Event{
				{Type: landfall.EventImportCompleted, AccountNumber: undoneNumber}, event(landfall.EventNotesCreated, 1),
				{Type: landfall.EventUndone, AccountNumber: undoneNumber},
				{Type: landfall.EventImportCompleted, AccountNumber: undoneNumber}, {Type: landfall.EventUndone, AccountNumber: undoneNumber},
			},
			Refusal: landfall.CodeAccountFailedValidation,
		},
		refused: {Refusal: landfall.CodeAccountFailedValidation},
	}
	return s
}

// storyOfUndo describes an account that was created and undone twice, and one
// that never passed validation.
func storyOfUndo(s *story) {
	wrong := stagingOf(refused, "wrong")
	wrong.Broken = true
	s.say(wrong, answered(http.StatusBadRequest, landfall.CodeAccountFailedValidation, ""))
	s.say(takeBack, answered(http.StatusBadRequest, landfall.CodeProcessUnknown, ""))
	s.say(stagingOf(undone, "rash"), answered(http.StatusCreated, "", ""))
	create := crashtest.Intent{Verb: crashtest.Process, Key: undone}
	s.say(create, answered(http.StatusCreated, "", undoneNumber))
	own := noteOn(undone, "own")
	own.Own = true
	s.say(own, answered(http.StatusCreated, "", "", true)) // it is undone with the account
	s.say(noteOn(undone, "too late"), nil)                 // it never happened
	s.say(takeBack, nil)                                   // it happened
	s.say(takeBack, answered(http.StatusBadRequest, landfall.CodeAccountNotFound, ""))
	s.history.Quiet()
	s.say(create, nil) // it happened
	s.say(stagingOf(undone, "rash"), answered(http.StatusBadRequest, landfall.CodeAlreadyImported, undoneNumber))
	s.say(takeBack, answered(http.StatusOK, "", undoneNumber))
	s.say(noteOn(undone, "much too late"), answered(http.StatusNotFound, landfall.CodeAccountNotFound, ""))
	s.history.Quiet()
	wrong = stagingOf(undone, "worse")
	wrong.Broken = true
	s.say(wrong, answered(http.StatusBadRequest, landfall.CodeAccountFailedValidation, ""))
}

func revisionsOf(names ...string) []landfall.StagedRevision {
	list := make([]landfall.StagedRevision, len(names))
	for i, name := range names {
		list[i] = landfall.StagedRevision{Revision: i + 1, Document: []byte(name + "'s document")}
	}
	return list
}

// A dry run holds no claim, so an account can be skipped during one. Then its
// failure is not stored, but its event is.
func TestSkipMayOvertakeDryRun(t *testing.T) {
	s, overtaken := correctStory(), landfall.Key{Supplier: "S", External: "overtaken"}
	cannot := stagingOf(overtaken, "overtaken")
	cannot.Doomed = true
	s.say(cannot, answered(http.StatusCreated, "", ""))
	attempt := s.history.Begin(crashtest.Intent{Verb: crashtest.DryRun, Key: overtaken})
	s.say(crashtest.Intent{Verb: crashtest.Skip, Key: overtaken}, answered(http.StatusOK, "", ""))
	s.history.End(attempt, *answered(http.StatusBadRequest, landfall.CodeInstructionNotFound, ""))
	s.state.Found[overtaken] = &crashtest.Found{
		Status: "UNKNOWN", Process: &landfall.Process{State: landfall.Skipped}, Revisions: revisionsOf("overtaken"),
		Events: []landfall.Event{{Type: landfall.EventSkipped}, {Type: landfall.EventDryRunFailed}},
	}
	for _, fault := range crashtest.Check(&s.history, s.state) {
		t.Error(fault)
	}
}

// TestCorrectHistoryHasNoFault checks a history without a fault. A checker that
// reports faults there would soon be ignored.
func TestCorrectHistoryHasNoFault(t *testing.T) {
	s := correctStory()
	for _, fault := range crashtest.Check(&s.history, s.state) {
		t.Error(fault)
	}
}
