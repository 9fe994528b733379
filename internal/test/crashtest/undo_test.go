package crashtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
	"landfall/internal/test/tooltest"
)

// A command that undoes a whole run is killed again and again, while servers
// are killed and callers add to its accounts, with the delivery that staged them
// and from elsewhere. In the end every account is either undone, with what its
// delivery added, or kept because something else was added, and the figures agree.
func TestRunUndoKilled(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, f *fleet) {
		const accounts = 150
		dice := seedOf(t)
		random := rand.New(rand.NewPCG(dice, 0))
		c := &caller{fleet: f, history: &crashtest.History{}}
		l := newLoad("U", dice)
		keys := make([]landfall.Key, accounts)
		for i := range keys {
			keys[i] = landfall.Key{Supplier: supplier, External: fmt.Sprintf("%s-%04d", l.name, i)}
			if answer, err := c.send(c.pick(random), l.staging(keys[i], random, creatable)); err != nil || answer.Status != http.StatusCreated {
				t.Fatalf("%+v, %v", answer, err)
			}
			askUndo(c.history, keys[i])
		}
		run := f.runAll()
		// What an import adds after its run.
		for _, key := range keys[:accounts/2] {
			intent := crashtest.Intent{Verb: crashtest.PostNotes, Key: key, Notes: l.texts("note", 2), Delivery: ownDelivery, Own: true}
			if answer, err := c.send(c.pick(random), intent); err != nil || answer.Status != http.StatusCreated {
				t.Fatalf("%+v, %v", answer, err)
			}
		}

		stop := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() { addTo(c, l, rand.New(rand.NewPCG(dice, 1)), keys, stop) })
		others.Go(func() { killSome(f, rand.New(rand.NewPCG(dice, 2)), stop) })
		// Give the command more time with each attempt: a slow machine needs a
		// while to start, and the kills should come in the middle.
		killed := 0
		for patience := 60 * time.Millisecond; killed < 25; patience += 60 * time.Millisecond {
			if _, ended := f.undoRun(run, patience); ended {
				break
			}
			killed++
		}
		close(stop)
		others.Wait()
		c.quiet()
		early := f.undoneSoFar(run)
		first, ended := f.undoRun(run, time.Minute)
		again, _ := f.undoRun(run, time.Minute)
		if !ended || first != again || first.Created != accounts || first.Undone+first.Kept != accounts || first.Failed != 0 || !first.Complete {
			t.Errorf("undone %+v, and again %+v", first, again)
		}
		gone, kept, withPostings := 0, 0, 0
		state := c.observe(l.name)
		for key, found := range state.Found {
			foreign := c.history.AddedFromElsewhere(key)
			switch {
			case found.Account == nil && len(found.Undone) == 1 && found.Undone[0].Run == run && !foreign.Sure:
				gone++
				if slices.ContainsFunc(found.Events, func(event landfall.Event) bool { return event.Type == landfall.EventNotesCreated }) {
					withPostings++
				}
			case found.Account != nil && len(found.Undone) == 0 && foreign.Possible:
				kept++
			default:
				t.Errorf("%s: account %v, undone %+v, added from elsewhere: %+v", key.External, found.Account != nil, found.Undone, foreign)
			}
		}
		if gone != first.Undone || kept != first.Kept {
			t.Errorf("%d are gone and %d kept, the undo says %+v", gone, kept, first)
		}
		for i, fault := range append(crashtest.Check(c.history, state), crashtest.CheckAudit(state, c.audited())...) {
			if i < 10 {
				t.Error(fault)
			}
		}
		t.Logf("the undo was killed %d times, with %d accounts gone by then; %+v; %d had postings of their delivery", killed, early, first, withPostings)
	})
}

// undoneSoFar counts the accounts of a run that were undone.
func (f *fleet) undoneSoFar(run string) (count int) {
	f.t.Helper()
	store := f.open()
	defer store.Close()
	if err := store.View(f.t.Context(), func(view landfall.View) (err error) {
		count, err = view.UndoneInRun(f.t.Context(), run)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return count
}

// askUndo records in the history that an account is created by a run and that the
// run is undone, because no caller asks for each of them.
func askUndo(history *crashtest.History, key landfall.Key) {
	history.Begin(crashtest.Intent{Verb: crashtest.Process, Key: key})
	history.Begin(crashtest.Intent{Verb: crashtest.Undo, Key: key})
}

// runAll starts a run of all waiting accounts and returns it.
func (f *fleet) runAll() string {
	f.t.Helper()
	body := fmt.Sprintf(`{"import_supplier_code":%q,"operations_team_name":%q}`, supplier, team)
	status, answer, err := f.request(http.MethodPost, f.replicas[0].address(), imports+"/runs/", []byte(body))
	var run struct{ ID, State string }
	if err != nil || status != http.StatusCreated || json.Unmarshal(answer, &run) != nil {
		f.t.Fatalf("no run: %d %s %v", status, answer, err)
	}
	eventually(f.t, time.Minute, "the run ends", func() bool {
		return f.get(imports+"/runs/"+run.ID+"/", &run) == http.StatusOK && run.State == "FINISHED"
	})
	return run.ID
}

type runUndone struct {
	Created, Undone, Kept, Failed int
	Complete                      bool
}

// undoRun undoes a run and is killed after a time.
func (f *fleet) undoRun(run string, patience time.Duration, flags ...string) (summary runUndone, ended bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	plain := f.command(append([]string{"run", "undo", run, "--reason", "undo", "--json"}, flags...)...)
	command := exec.CommandContext(ctx, plain.Path, plain.Args[1:]...) // SIGKILL when time is up
	command.Env, command.SysProcAttr = plain.Env, killWithTests
	output, err := command.Output()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return summary, false
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	var last struct{ Summary runUndone }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		f.t.Errorf("%v: %s", err, output)
	}
	return last.Summary, true
}

// addTo posts notes to some of the accounts.
func addTo(c *caller, l *load, random *rand.Rand, keys []landfall.Key, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(5+random.IntN(30)) * time.Millisecond):
			key := keys[random.IntN(len(keys))]
			intent := crashtest.Intent{Verb: crashtest.PostNotes, Key: key, Notes: l.texts("note", 1)}
			if random.IntN(3) > 0 {
				intent.Delivery, intent.Own = ownDelivery, true
			}
			_, _ = c.send(c.pick(random), intent)
		}
	}
}

// killSome kills a server from time to time.
func killSome(f *fleet, random *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(100+random.IntN(300)) * time.Millisecond):
			victim := f.replicas[random.IntN(len(f.replicas))]
			victim.kill()
			victim.start()
		}
	}
}
