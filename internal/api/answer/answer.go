// Package answer implements the API calls without HTTP: the caller, the query,
// the path values and the body go in; a status, header values and the body come
// out. HTTP requests and lines of a bulk request both use it, so their clients
// get the same bytes.
package answer

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/service/intake"
	"landfall/internal/service/run"
)

// Call is one API call.
type Call struct {
	Who   landfall.Principal
	Query string    // of the URL, as sent
	Path  [2]string // path values, decoded
	// Body is the request body. If the verb KeepsBody, it must never be modified;
	// otherwise not until the answer was sent, because the answer may contain it.
	Body []byte
	// Scratch is a buffer for the answer; it may be nil.
	Scratch []byte
	// Ending is closed when long polls must return what they have; nil means never.
	Ending <-chan struct{}
}

// Answer is the response to a call.
type Answer struct {
	Status int
	Body   []byte
	// Pieces sends a long body piece by piece instead of Body. An error before the
	// first piece can still be reported to the caller.
	Pieces func(send Send) error
	Lines  bool // the body is newline-delimited JSON

	Next       string        // query of the next page; "" if there is none
	Cursor     string        // of the feed: what happened up to there is in the body; "" if none
	RetryAfter time.Duration // 0: none

	Supplier string // supplier of the call, for the log
	Code     string // of an error, otherwise ""
	Cause    error  // of an error, only for the log
}

// Send sends a piece of a body.
type Send func(piece []byte, last bool) error

// Verb is one operation of the API.
type Verb struct {
	// Tail is the verb's path below the root of the API, without the slashes
	// around it and without parameters; it is also the verb's name.
	Path         string
	Writes       bool // requires a key that may write
	KeepsBody    bool // keeps the body after the call
	BodyOptional bool // the body may be left out, or be {}
	Streams      bool // may be long: sent in pieces, without the usual timeout
	LongPolls    bool // may wait for an event
	// ReadsPersonal says that the answer contains whole accounts. It requires a key
	// that may read them.
	ReadsPersonal bool

	// supplierField is the body field with the supplier, for verbs that change an
	// account.
	supplierField string
	run           func(*API, context.Context, Call) (Answer, error)
	// runBatch runs many calls faster than one by one; nil if there is no such way.
	runBatch func(*API, context.Context, []Call, landfall.Turn) ([]Answer, []error)
	// refuse changes the form of errors; nil keeps them.
	refuse func(*landfall.Error) *landfall.Error
}

// AccountKey returns which account a body would change, without parsing it
// completely. Bulk requests use it to keep the order of calls for an account. A
// body without a key changes nothing.
func (v *Verb) AccountKey(body []byte) (key landfall.Key, told bool) {
	if v.supplierField == "" {
		return landfall.Key{}, false
	}
	key.Supplier, key.External, told = rules.Peek(body, v.supplierField, "external_account_number")
	return key, told
}

// API runs calls.
type API struct {
	service *intake.Service
	runs    *run.Runner
	count   func(verb *Verb, outcome string)
	source  string // of events
}

// New returns the API. count is called with the outcome of every call; it may be
// nil.
func New(service *intake.Service, runs *run.Runner, count func(verb *Verb, outcome string)) *API {
	if count == nil {
		count = func(*Verb, string) {}
	}
	return &API{service: service, runs: runs, count: count, source: contract.UnnamedSource}
}

// WithSource sets the source of events.
func (a *API) WithSource(source string) *API {
	a.source = source
	return a
}

// Outcomes of successful calls.
const (
	Accepted     = "accepted"
	Created      = "created"
	Updated      = "updated"
	DryRunPassed = "dry_run_passed"
)

// Do runs one call. Errors become answers, too.
func (a *API) Do(ctx context.Context, verb *Verb, call Call) Answer {
	ctx, about := intake.WithAbout(ctx)
	answer, err := verb.run(a, ctx, call)
	if err != nil {
		answer = a.Refuse(verb, err)
	} else {
		a.count(verb, outcomeOf(verb, answer))
	}
	answer.Supplier = about.Supplier
	return answer
}

// WaitForPlace waits until a line of a bulk request should be tried, if it
// creates an account of a supplier with a concurrency limit. The returned
// function gives the place back.
func (a *API) WaitForPlace(ctx context.Context, verb *Verb, who landfall.Principal, supplier string) (leave func()) {
	if verb != Process {
		return func() {}
	}
	return a.service.WaitForPlace(ctx, who, supplier)
}

// Batches reports whether the verb supports DoBatch.
func (v *Verb) Batches() bool { return v.runBatch != nil }

// DoBatch runs calls of one organisation with the same query, as if Do ran each
// in turn. A second call for the same account runs by itself after the others.
// Work that needs a processor waits for the turn. The verb must support Batches.
func (a *API) DoBatch(ctx context.Context, verb *Verb, calls []Call, turn landfall.Turn) []Answer {
	answers, errs := verb.runBatch(a, ctx, calls, turn)
	for i, err := range errs {
		if err == nil {
			a.count(verb, outcomeOf(verb, answers[i]))
			continue
		}
		about := answers[i].Supplier
		answers[i] = a.Refuse(verb, err)
		answers[i].Supplier = about
	}
	return answers
}

// outcomeOf names a success. Staging distinguishes new accounts from updates.
func outcomeOf(verb *Verb, answer Answer) string {
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
