package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/audit"
)

// Options are what an Operator needs besides the store.
type Options struct {
	Actor string // who is changing things: "operator:<login>"
	// Source is the machine or address they sit at, and RequestID names the
	// request of a page; both are for the audit.
	Source, RequestID string
	Rules             []string         // codes of the rules whose severity may be set
	Clock             func() time.Time // nil: time.Now

	// SecretVariables may hold a vendor's secret besides those named VENDOR_….
	SecretVariables []string

	// SendsMail says that a mail server is configured where the operator sits.
	SendsMail bool

	// Sender delivers to webhooks; nil where none are added or tried.
	Sender *webhook.Sender

	// Verifier asks payment vendors; nil where none is asked.
	Verifier landfall.InstructionVerifier
}

// Store is what the operator's verbs need of a store: no staging and no posting
// among it but what Pipeline has for taking accounts back.
type Store interface {
	landfall.Transactor
	landfall.Importer
	landfall.RunQueue
	landfall.Lister
	landfall.Inspector
	landfall.Purger
	landfall.Rekeyer
	landfall.Searcher
	landfall.EventLog
	landfall.AuditChainer
}

// Operator runs the operator's verbs on behalf of one actor.
type Operator struct {
	store   Store
	actor   string
	source  string
	request string
	rules   []string
	clock   func() time.Time
	secrets []string
	mails   bool
	sender  *webhook.Sender
	vendors landfall.InstructionVerifier
}

// New gives an operator over a store.
func New(store Store, options Options) *Operator {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	// Rules are looked up by halves, so they have to be sorted, and the list is the
	// caller's.
	rules := slices.Clone(options.Rules)
	slices.Sort(rules)
	return &Operator{
		store: store, actor: options.Actor, source: options.Source, request: options.RequestID, rules: rules, clock: options.Clock,
		secrets: options.SecretVariables, mails: options.SendsMail, sender: options.Sender, vendors: options.Verifier,
	}
}

// WithSource is the same operator at another address: what he does is kept with it.
func (o *Operator) WithSource(source string) *Operator {
	there := *o
	there.source = source
	return &there
}

// change runs a change and keeps its audit entry in the same transaction.
func (o *Operator) change(ctx context.Context, action, subject string, fn func(landfall.Tx) (detail string, err error)) error {
	err := o.store.Update(ctx, func(tx landfall.Tx) error {
		detail, err := fn(tx)
		if err != nil {
			return err
		}
		return tx.AppendAudit(ctx, o.entry(action, subject, detail))
	})
	if err == nil {
		audit.ChainSoon(ctx, o.store)
	}
	return storeError(action, err)
}

// entry is what the audit keeps of a change.
func (o *Operator) entry(action, subject, detail string) landfall.AuditEntry {
	return landfall.AuditEntry{
		Actor: o.actor, Action: action, Subject: subject, Detail: detail, Source: o.source, RequestID: o.request,
	}
}

// view reads in one snapshot.
func (o *Operator) view(ctx context.Context, doing string, fn func(landfall.View) error) error {
	return storeError(doing, o.store.View(ctx, fn))
}

// storeError tells the operator of the store's own failures and leaves refusals
// as they are. Unlike a request, what an operator does is not always safe to do
// again, so an unknown outcome gets a sentence of its own.
func storeError(doing string, err error) error {
	if _, known := errors.AsType[*landfall.Error](err); known || err == nil {
		return err
	}
	told := landfall.UserError(doing, err)
	switch {
	case errors.Is(err, landfall.ErrUnknownOutcome):
		told.Detail = "The database went away during the change. Look whether it took effect before trying again."
	case errors.Is(err, landfall.ErrUnavailable):
		told.Detail = "The database cannot be reached or is too busy. Nothing was changed; try again."
	case told.Kind == landfall.Internal:
		return fmt.Errorf("%s: %w", doing, err) // for a person at a terminal, who may know what it means
	}
	return told
}

// invalid refuses an input of the operator's. The attr names the argument.
func invalid(attr, code, detail string, args ...any) *landfall.Error {
	detail = fmt.Sprintf(detail, args...)
	refusal := landfall.Refuse(landfall.CodeValidationFailed, detail)
	refusal.Violations = []landfall.Violation{{Code: code, Attr: attr, Detail: detail}}
	return refusal
}

// nameTaken says that a name is in use already.
func nameTaken(detail string, args ...any) *landfall.Error {
	return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(detail, args...))
}

// replaceError replaces one of the store's sentinels by a refusal.
func replaceError(err, sentinel error, refusal *landfall.Error) error {
	if errors.Is(err, sentinel) {
		return refusal
	}
	return err
}
