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

// The verbs of the API and of operators.
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

// Intent is a request that a caller is about to send. Its texts must be unique,
// so that each effect can be traced to one intent. Only a repeated request has
// the same texts.
type Intent struct {
	Verb         Verb
	Key          landfall.Key
	Document     string     // staged
	Name         string     // billing name in the document
	Customers    int        // number of customers in the document
	Notes        []string   // bodies: posted, or inline in the document
	Transactions []Movement // posted, or inline in the document
	Statements   []string   // identifiers: posted, or inline in the document
	Instructions []string   // references: posted, or inline in the document
	Unchecked    bool       // added again even when already present
	Delivery     string     // that the request names
	Own          bool       // posted with the delivery that staged the account, so an undo takes it back
	Broken       bool       // breaks a rule, so all of it must be refused
	Doomed       bool       // names an instruction that its vendor does not know, so every attempt must fail
}

// Movement is a transaction with its effect on the balance.
type Movement struct {
	ID     string
	Signed money.Amount
	Moved  bool // outside the open period, so its date is changed and a pinned note says so
}

// Answer is a response.
type Answer struct {
	Status int
	Code   string // of a refusal
	Number string // of the account, if the response has it; of an undo: the number of the undone account
	Added  []bool // for each note or transaction posted: whether it was added now
}

// Entry is one request in a history. Its two instants are counted by the
// history: an entry that ended before another began had its response by then.
type Entry struct {
	Intent
	Answer *Answer // nil if none came
	began  int
	ended  int
}

// done reports that the effect was confirmed.
func (e *Entry) done() bool { return e.Answer != nil && e.Answer.Status/100 == 2 }

// refused reports that the request had no effect. Only 4xx statuses promise
// that: after a 5xx anything may have happened.
func (e *Entry) refused(codes ...string) bool {
	if e.Answer == nil || e.Answer.Status/100 != 4 {
		return false
	}
	return len(codes) == 0 || slices.Contains(codes, e.Answer.Code)
}

// open reports that the outcome of the request is unknown.
func (e *Entry) open() bool { return !e.done() && !e.refused() }

// after reports whether this request was sent after the other one's response
// came.
func (e *Entry) after(other *Entry) bool { return other.Answer != nil && other.ended < e.began }

// over reports whether the other request could no longer have an effect when
// this one was sent, with or without a response.
func (e *Entry) over(other *Entry) bool { return other.ended > 0 && other.ended < e.began }

// History records all requests and responses. It is kept in memory: the test
// process is never killed, and writing every line to disk would slow the
// callers down.
type History struct {
	mutex   sync.Mutex
	clock   int
	entries []*Entry
}

// Begin records an intent. Call it before sending anything.
func (h *History) Begin(intent Intent) *Entry {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clock++
	entry := &Entry{Intent: intent, began: h.clock}
	h.entries = append(h.entries, entry)
	return entry
}

// End records the response to an intent. Without one it stays open.
func (h *History) End(entry *Entry, answer Answer) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clock++
	entry.Answer, entry.ended = &answer, h.clock
}

// Quiet records that no process can still execute a request without a response:
// from now on it has happened or never will.
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

// Keys returns every key that occurs in the history.
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

// Added says whether something was added.
type Added struct{ Sure, Possible bool }

// AddedFromElsewhere returns whether something was added to an account that did
// not come with its delivery.
func (h *History) AddedFromElsewhere(key landfall.Key) (added Added) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, entry := range h.entries {
		if entry.Key == key && entry.fromElsewhere() {
			added.Possible, added.Sure = true, added.Sure || entry.done()
		}
	}
	return added
}

// Tally counts the outcomes of the requests of a verb.
type Tally struct{ Done, Refused, Unavailable, Unanswered int }

// Tally sums up the history, so that a test can see whether anything happened.
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

// Tell returns the requests about a key in the order they were sent, for
// debugging.
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

// Now returns the current instant of the history.
func (h *History) Now() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clock
}

// AsOf returns the history as it was known at an instant. What was confirmed
// later may have happened or not, as a backup that began then may see it.
func (h *History) AsOf(instant int) *History {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	then := &History{clock: h.clock}
	for _, entry := range h.entries {
		// Copy the entry: callers of the original still write to it.
		known := *entry
		if known.ended > instant {
			known.Answer, known.ended = nil, 0
		}
		then.entries = append(then.entries, &known)
	}
	return then
}
