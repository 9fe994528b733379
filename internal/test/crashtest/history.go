package crashtest

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"landfall"
	"landfall/internal/lib/money"
)

// Verb is what a caller asks for.
type Verb string

// The verbs.
const (
	Stage            Verb = "stage"
	Process          Verb = "process"
	DryRun           Verb = "dry run"
	PostNotes        Verb = "notes"
	PostTransactions Verb = "transactions"
	PostStatements   Verb = "statements"
	PostInstruction  Verb = "instruction"
	Skip             Verb = "skip"
	Unskip           Verb = "unskip"
	Undo             Verb = "undo"
)

// Intent is what a caller is about to ask. Texts must be unique to the intent,
// so that an effect can be told from every other; only the same intent sent
// again has the same.
type Intent struct {
	Verb         Verb
	Key          landfall.Key
	Document     string     // staged
	Name         string     // the billing name in it
	Customers    int        // how many it has
	Notes        []string   // bodies: posted, or inline in the document
	Transactions []Movement // posted, or inline in the document
	Statements   []string   // identifiers: posted, or inline in the document
	Instructions []string   // references: posted, or inline in the document
	Unchecked    bool       // added again whether or not they are there
	Broken       bool       // breaks a rule, so that all of it must be refused
	Doomed       bool       // staged with what no vendor knows, so that every attempt must fail
}

// Movement is a transaction as it moves the balance.
type Movement struct {
	ID     string
	Signed money.Amount
	Moved  bool // its day lies outside the open period, so it is changed and a pinned note says so
}

// Answer is what came back.
type Answer struct {
	Status int
	Code   string // of a refusal
	Number string // of the account, when it was named; of an undo: the one that was taken back
	Added  []bool // for each note or transaction posted: added now, or there already
}

// Entry is one request in a history. Its two instants are of the history's own
// clock: an entry that ended before another began had its answer by then.
type Entry struct {
	Intent
	Answer *Answer // nil: none came
	began  int
	ended  int
}

// done reports that the effect was confirmed, refused that there must be none.
// Everything else is open: the effect may be there or not.
func (e *Entry) done() bool { return e.Answer != nil && e.Answer.Status/100 == 2 }

// refused says that nothing was done, which only statuses of the four hundreds
// promise: behind a five hundred anything may have happened.
func (e *Entry) refused(codes ...string) bool {
	if e.Answer == nil || e.Answer.Status/100 != 4 {
		return false
	}
	return len(codes) == 0 || slices.Contains(codes, e.Answer.Code)
}

// open says that nobody knows what became of a request.
func (e *Entry) open() bool { return !e.done() && !e.refused() }

// after reports whether this request was sent when the other had its answer.
func (e *Entry) after(other *Entry) bool { return other.Answer != nil && other.ended < e.began }

// over reports whether nothing of the other could happen any more when this
// request was sent, answered or not.
func (e *Entry) over(other *Entry) bool { return other.ended > 0 && other.ended < e.began }

// History is what all callers asked and were told. It is kept in memory: the
// process that holds it is the test itself, which is never killed, and a file
// flushed to disk for every line would only slow the callers down.
type History struct {
	mutex   sync.Mutex
	clock   int
	entries []*Entry
}

// Begin writes down an intent. It must return before anything is sent.
func (h *History) Begin(intent Intent) *Entry {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clock++
	entry := &Entry{Intent: intent, began: h.clock}
	h.entries = append(h.entries, entry)
	return entry
}

// End writes down the answer to an intent; without one it stays open.
func (h *History) End(entry *Entry, answer Answer) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clock++
	entry.Answer, entry.ended = &answer, h.clock
}

// Quiet writes down that whoever could still carry out an unanswered request
// is gone: from here on it has happened or never will.
func (h *History) Quiet() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clock++
	for _, entry := range h.entries {
		if entry.ended == 0 {
			entry.ended = h.clock
		}
	}
}

// Keys gives every key somebody asked about.
func (h *History) Keys() []landfall.Key {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	seen := map[landfall.Key]bool{}
	var keys []landfall.Key
	for _, entry := range h.entries {
		if !seen[entry.Key] {
			seen[entry.Key] = true
			keys = append(keys, entry.Key)
		}
	}
	return keys
}

// Tally counts how the requests of a verb ended.
type Tally struct{ Done, Refused, Unavailable, Unanswered int }

// Tally sums the history up, so that a test can tell whether anything happened.
func (h *History) Tally() map[Verb]Tally {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	sums := map[Verb]Tally{}
	for _, entry := range h.entries {
		sum := sums[entry.Verb]
		switch {
		case entry.Answer == nil:
			sum.Unanswered++
		case entry.done():
			sum.Done++
		case entry.Answer.Status >= http.StatusInternalServerError:
			sum.Unavailable++
		default:
			sum.Refused++
		}
		sums[entry.Verb] = sum
	}
	return sums
}

// Tell gives the requests about a key in the order they were sent, for whoever
// has to find out what went wrong.
func (h *History) Tell(external string) []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var lines []string
	for _, entry := range h.entries {
		if entry.Key.External != external {
			continue
		}
		answer := "no answer"
		if entry.Answer != nil {
			answer = fmt.Sprintf("%d %s %s", entry.Answer.Status, entry.Answer.Code, entry.Answer.Number)
		}
		lines = append(lines, fmt.Sprintf("%d–%d %s: %s", entry.began, entry.ended, entry.Verb, answer))
	}
	return lines
}

// Now gives the instant of the history's clock.
func (h *History) Now() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clock
}

// AsOf gives the history as it was known at an instant: whatever was answered
// later may have happened or not, which is how a copy begun then may see it.
func (h *History) AsOf(instant int) *History {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	then := &History{clock: h.clock}
	for _, entry := range h.entries {
		// A copy: callers of the history as it goes on still write to theirs.
		known := *entry
		if known.ended > instant {
			known.Answer, known.ended = nil, 0
		}
		then.entries = append(then.entries, &known)
	}
	return then
}
