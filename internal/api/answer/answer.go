// Package answer is one API call without HTTP: who is asking, the query, the
// values in the path and the body go in; a status, what its header says and the
// body come out. HTTP is one caller of it and a stream of many calls is another,
// and both give their clients the same bytes.
package answer

import (
	"cmp"
	"context"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/service/intake"
	"landfall/internal/service/run"
)

// Call is one call of the API.
type Call struct {
	Who   landfall.Principal
	Query string    // of the URL, as sent
	Path  [2]string // the values in the path, decoded
	// Body is what was sent. When the verb Keeps it, it must stay untouched for
	// good; else until the answer was sent, for an answer may repeat it.
	Body []byte
	// Scratch is memory to write the answer into; it may be nil.
	Scratch []byte
	// Ends is closed when whoever waits for something should be answered with
	// what there is; nil is never.
	Ending <-chan struct{}
}

// Answer is what a caller is told.
type Answer struct {
	Status int
	Body   []byte
	// Pieces sends the body bit by bit instead, where it may be long. An error
	// before the first piece is one that can still be told.
	Pieces func(send Send) error

	Next       string        // query of the next page; "" when there is none
	RetryAfter time.Duration // 0: not said

	Supplier string // whom the call was about, once that is known; for the log
	Code     string // of a refusal, "" else
	Cause    error  // of a refusal, for the log alone
}

// Send takes a piece of a body; the last one is said to be.
type Send func(piece []byte, last bool) error

// Verb is one thing the API does.
type Verb struct {
	// Tail is the verb's path below the root of the API, without the slashes
	// around it and without parameters; it is also the verb's name.
	Path         string
	Writes       bool // needs a key that may write
	KeepsBody    bool // holds on to the body when the call is over
	BodyOptional bool // may be called without a body, and knows none but {}
	Streams      bool // may be long: comes in pieces and has no time limit of its own
	LongPolls    bool // may wait for something to happen

	// supplier is the field that names the supplier in the body of a verb that
	// changes an account.
	supplierField string
	run           func(*API, context.Context, Call) (Answer, error)
	// all answers many calls in less time than one by one; nil where nothing does.
	runBatch func(*API, context.Context, []Call) ([]Answer, []error)
	// refuse gives refusals a form of their own; nil leaves them as they are.
	refuse func(*landfall.Error) *landfall.Error
}

// AccountKey tells at a glance which account a body would change, for those who
// have to keep bodies of one account in order. One that tells nothing changes
// nothing.
func (v *Verb) AccountKey(body []byte) (key landfall.Key, told bool) {
	if v.supplierField == "" {
		return landfall.Key{}, false
	}
	key.Supplier, key.External, told = rules.Peek(body, v.supplierField, "external_account_number")
	return key, told
}

// API answers calls.
type API struct {
	service *intake.Service
	runs    *run.Runner
	count   func(verb *Verb, outcome string)
	source  string // of events
}

// New returns the API over its services. Every call is reported to count, if there is
// one: its verb and what became of it, in a word or the code of its refusal.
func New(service *intake.Service, runs *run.Runner, count func(verb *Verb, outcome string)) *API {
	if count == nil {
		count = func(*Verb, string) {}
	}
	return &API{service: service, runs: runs, count: count, source: contract.UnnamedSource}
}

// WithBaseURL tells the API the address under which clients find the service, which
// events name as their source.
func (a *API) WithBaseURL(base string) *API {
	a.source = EventSource(base)
	return a
}

// EventSource is what events name as their source when the service is found
// under an address, or when that is not known.
func EventSource(base string) string { return cmp.Or(base, contract.UnnamedSource) }

// The outcomes of calls that were not refused.
const (
	Accepted     = "accepted"
	Created      = "created"
	Updated      = "updated"
	DryRunPassed = "dry_run_passed"
)

// Do answers one call. It always answers: what went wrong is an answer too.
func (a *API) Do(ctx context.Context, verb *Verb, call Call) Answer {
	ctx, about := intake.WithAbout(landfall.OnBehalf(ctx, call.Who.Organisation))
	answer, err := verb.run(a, ctx, call)
	if err != nil {
		answer = a.Refuse(verb, err)
	} else {
		a.count(verb, outcome(verb, answer))
	}
	answer.Supplier = about.Supplier
	return answer
}

// Batches says whether many calls at once are cheaper than one by one.
func (v *Verb) Batches() bool { return v.runBatch != nil }

// DoBatch answers calls of one organisation, with the same query, as Do would
// answer each in turn. They are quick about different accounts: one that comes
// again is answered by itself, after the others. The verb must be one that does
// many Together.
func (a *API) DoBatch(ctx context.Context, verb *Verb, calls []Call) []Answer {
	answers, errs := verb.runBatch(a, landfall.OnBehalf(ctx, calls[0].Who.Organisation), calls)
	for i, err := range errs {
		if err == nil {
			a.count(verb, outcome(verb, answers[i]))
			continue
		}
		about := answers[i].Supplier
		answers[i] = a.Refuse(verb, err)
		answers[i].Supplier = about
	}
	return answers
}

// outcome names a success. Staging tells a new account from a changed one.
func outcome(verb *Verb, answer Answer) string {
	switch {
	case verb == Process:
		return Created
	case verb == Stage && answer.Status == statusCreated:
		return Created
	case verb == Stage:
		return Updated
	}
	return Accepted
}
