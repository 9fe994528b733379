package accountview

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Failure is why the last attempt failed.
type Failure struct {
	At     NullString  `json:"at"`
	Code   string      `json:"code"`
	Detail string      `json:"detail"`
	DryRun bool        `json:"dry_run"`
	Errors []Violation `json:"errors"`
}

// Violation is one mistake and its place, spelled as in the API's answers.
type Violation struct {
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Attr   string `json:"attr"`
}

// Revision is one staging of the account's data.
type Revision struct {
	Revision       int             `json:"revision"`
	StagedAt       NullString      `json:"staged_at"`
	SHA256         string          `json:"sha256"`
	Bytes          int             `json:"bytes"`
	CreatedAccount bool            `json:"made_the_account"`
	RemovedAt      *NullString     `json:"gone_at,omitempty"` // when the document went
	By             *Author         `json:"by,omitempty"`
	Document       json.RawMessage `json:"document,omitempty"` // personal
}

// Event is something that happened to the account and was told to the world.
type Event struct {
	At      NullString        `json:"at"`
	Type    string            `json:"type"`
	Details map[string]string `json:"details,omitempty"`
	By      *Author           `json:"by,omitempty"`
}

// UndoneAccount is an account that was made of this one and taken back. Its number is
// nobody's any more.
type UndoneAccount struct {
	AccountNumber string     `json:"platform_account_number"`
	CreatedAt     NullString `json:"account_created_at"`
	UndoneAt      NullString `json:"undone_at"`
	Actor         string     `json:"by"`
	Reason        string     `json:"reason"`
	Run           string     `json:"run,omitempty"`
}

// Author is whose key wrote something, in which request. There is none for
// what an operator did.
type Author struct {
	Organisation string `json:"organisation"`
	Key          string `json:"key"`
	RequestID    string `json:"request_id"`
}

// newFailure keeps the violations apart: a page shows each at its place.
func newFailure(f *landfall.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{formatInstant(f.At), f.Code, f.Detail, f.DryRun, convert(f.Violations, func(v landfall.Violation) Violation {
		return Violation{v.Detail, v.Code, v.Attr}
	})}
}

// newRevision shows the hash of what was staged even where the document itself is not
// shown, or gone: it proves what was sent.
func newRevision(staged landfall.StagedRevision, made int, whole bool) Revision {
	shown := Revision{
		Revision: staged.Revision, StagedAt: formatInstant(staged.StagedAt), SHA256: hex.EncodeToString(staged.Hash[:]),
		Bytes: len(staged.Document), CreatedAccount: staged.Revision == made, By: newAuthor(staged.By),
	}
	if whole {
		shown.Document = staged.Document
	}
	if !staged.RemovedAt.IsZero() {
		gone := formatInstant(staged.RemovedAt)
		shown.RemovedAt = &gone
	}
	return shown
}

// newEvent keeps its details as they are; the store holds nothing personal in them.
func newEvent(e landfall.Event) Event {
	return Event{formatInstant(e.At), string(e.Type), e.Details, newAuthor(e.By)}
}

// newUndoneAccount keeps the number of an account that was taken back, since people may have
// been told it.
func newUndoneAccount(u landfall.UndoneAccount) UndoneAccount {
	return UndoneAccount{u.Number, formatInstant(u.CreatedAt), formatInstant(u.UndoneAt), u.Actor, u.Reason, u.Run}
}

// newAuthor is nil where no key wrote: an operator did, or it was before authors were
// kept.
func newAuthor(by landfall.Author) *Author {
	if by.KeyID == "" {
		return nil
	}
	return &Author{by.Organisation, by.KeyID, by.RequestID}
}

// formatInstant writes a time as the API does, and nothing for no time.
func formatInstant(at time.Time) NullString {
	if at.IsZero() {
		return ""
	}
	return NullString(calendar.FormatInstant(at))
}
