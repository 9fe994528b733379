package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/outbound/target"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/audit"
)

// Options configure an Operator.
type Options struct {
	Actor string // who makes the changes: "operator:<login>" in the console, "shell:<login>" on the command line
	// Source is the host or address the operator works from, and RequestID is
	// the id of a console request. Both are stored in the audit.
	Source, RequestID string
	Rules             []string         // codes of the rules whose severity may be set
	Clock             func() time.Time // nil: time.Now

	// SecretVariables are environment variables that may contain a vendor's
	// secret, besides those named VENDOR_….
	SecretVariables []string

	// SendsMail says that this process is configured with a mail server.
	SendsMail bool

	// Sender delivers to webhooks; nil if none are added or tested.
	Sender *webhook.Sender

	// Targets sends to targets; nil if none are used.
	Targets *target.Sender

	// Verifier asks payment vendors; nil if none are asked.
	Verifier landfall.InstructionVerifier
}

// Store is the part of a store that an Operator needs. An Operator neither
// stages nor posts: of Importer it uses only Undo.
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
	landfall.TargetQueue
}

// Operator does what one operator asks for, and records it under that operator's
// name.
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
	targets *target.Sender
	vendors landfall.InstructionVerifier
	person  *landfall.Operator // whose permissions apply; nil: everything is permitted
}

// New returns an operator over a store.
func New(store Store, options Options) *Operator {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	// Rules are found by binary search, so sort them; sort a copy, because the
	// list belongs to the caller.
	rules := slices.Clone(options.Rules)
	slices.Sort(rules)
	return &Operator{
		store: store, actor: options.Actor, source: options.Source, request: options.RequestID, rules: rules, clock: options.Clock,
		secrets: options.SecretVariables, mails: options.SendsMail, sender: options.Sender, targets: options.Targets, vendors: options.Verifier,
	}
}

// WithRequest returns a copy of the operator that records another source address and
// the id of a request.
func (o *Operator) WithRequest(source, id string) *Operator {
	there := *o
	there.source, there.request = source, id
	return &there
}

// change runs a change and writes its audit entry in the same transaction.
func (o *Operator) change(ctx context.Context, action, subject string, fn func(landfall.Tx) (detail string, err error)) error {
	return o.changeNew(ctx, action, func(tx landfall.Tx) (string, string, error) {
		if err := o.permitChange(ctx, tx, action, subject); err != nil {
			return "", "", err
		}
		detail, err := fn(tx)
		return subject, detail, err
	})
}

// changeNew is change for something whose name is only known when it exists. It
// leaves the check of permissions to the caller.
func (o *Operator) changeNew(ctx context.Context, action string, fn func(landfall.Tx) (subject, detail string, err error)) error {
	err := o.store.Update(ctx, func(tx landfall.Tx) error {
		subject, detail, err := fn(tx)
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

// entry returns the audit entry of a change.
func (o *Operator) entry(action, subject, detail string) landfall.AuditEntry {
	return landfall.AuditEntry{
		Actor: o.actor, Action: action, Subject: subject, Detail: detail, Source: o.source, RequestID: o.request,
	}
}

// view reads from one snapshot.
func (o *Operator) view(ctx context.Context, doing string, fn func(landfall.View) error) error {
	if err := o.permitView(doing); err != nil {
		return err
	}
	return storeError(doing, o.store.View(ctx, fn))
}

// storeError turns the store's own failures into errors for the operator and
// leaves refusals as they are. Unlike an API request, an operator's action is
// not always safe to repeat, so an unknown outcome has its own message.
func storeError(doing string, err error) error {
	if _, known := errors.AsType[*landfall.Error](err); known || err == nil {
		return err
	}
	told := landfall.UserError(doing, err)
	switch {
	case errors.Is(err, landfall.ErrUnknownOutcome):
		told.Detail = "The database became unreachable during the change. Check whether the change took effect before you try again."
	case errors.Is(err, landfall.ErrDiskFull):
		told.Detail = "The disk of the database is full. Nothing was changed; free some space and try again."
	case errors.Is(err, landfall.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		told.Detail = "The database cannot be reached or is too busy. Nothing was changed; try again."
	case told.Kind == landfall.Internal:
		return fmt.Errorf("%s: %w", doing, err) // shown at a terminal, to a person who may understand it
	}
	return told
}

// invalid refuses an operator's input. The attr names the argument.
func invalid(attr, code, detail string, args ...any) *landfall.Error {
	detail = fmt.Sprintf(detail, args...)
	refusal := landfall.Refuse(landfall.CodeValidationFailed, detail)
	refusal.Violations = []landfall.Violation{{Code: code, Attr: attr, Detail: detail}}
	return refusal
}

// nameTaken reports that a name is already in use.
func nameTaken(detail string, args ...any) *landfall.Error {
	return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(detail, args...))
}

// replaceError replaces one of the store's sentinel errors with a refusal.
func replaceError(err, sentinel error, refusal *landfall.Error) error {
	if errors.Is(err, sentinel) {
		return refusal
	}
	return err
}
