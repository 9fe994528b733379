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
	At     Maybe       `json:"at"`
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
	Revision int             `json:"revision"`
	StagedAt Maybe           `json:"staged_at"`
	SHA256   string          `json:"sha256"`
	Bytes    int             `json:"bytes"`
	Made     bool            `json:"made_the_account"`
	GoneAt   *Maybe          `json:"gone_at,omitempty"` // when the document went
	By       *Author         `json:"by,omitempty"`
	Document json.RawMessage `json:"document,omitempty"` // personal
}

// Event is something that happened to the account and was told to the world.
type Event struct {
	At      Maybe             `json:"at"`
	Type    string            `json:"type"`
	Details map[string]string `json:"details,omitempty"`
	By      *Author           `json:"by,omitempty"`
}

// Undone is an account that was made of this one and taken back. Its number is
// nobody's any more.
type Undone struct {
	AccountNumber string `json:"platform_account_number"`
	CreatedAt     Maybe  `json:"account_created_at"`
	UndoneAt      Maybe  `json:"undone_at"`
	Actor         string `json:"by"`
	Reason        string `json:"reason"`
	Run           string `json:"run,omitempty"`
}

// Author is whose key wrote something, in which request. There is none for
// what an operator did.
type Author struct {
	Organisation string `json:"organisation"`
	Key          string `json:"key"`
	RequestID    string `json:"request_id"`
}

// failure keeps the violations apart: a page shows each at its place.
func failure(f *landfall.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{instant(f.At), f.Code, f.Detail, f.DryRun, each(f.Violations, func(v landfall.Violation) Violation {
		return Violation{v.Detail, v.Code, v.Attr}
	})}
}

// revision shows the hash of what was staged even where the document itself is not
// shown, or gone: it proves what was sent.
func revision(staged landfall.StagedRevision, made int, whole bool) Revision {
	shown := Revision{
		Revision: staged.Revision, StagedAt: instant(staged.StagedAt), SHA256: hex.EncodeToString(staged.Hash[:]),
		Bytes: len(staged.Document), Made: staged.Revision == made, By: author(staged.By),
	}
	if whole {
		shown.Document = staged.Document
	}
	if !staged.RemovedAt.IsZero() {
		gone := instant(staged.RemovedAt)
		shown.GoneAt = &gone
	}
	return shown
}

// event keeps its details as they are; the store holds nothing personal in them.
func event(e landfall.Event) Event {
	return Event{instant(e.At), string(e.Type), e.Details, author(e.By)}
}

// undone keeps the number of an account that was taken back, since people may have
// been told it.
func undone(u landfall.UndoneAccount) Undone {
	return Undone{u.Number, instant(u.CreatedAt), instant(u.UndoneAt), u.Actor, u.Reason, u.Run}
}

// author is nil where no key wrote: an operator did, or it was before authors were
// kept.
func author(by landfall.Author) *Author {
	if by.KeyID == "" {
		return nil
	}
	return &Author{by.Organisation, by.KeyID, by.RequestID}
}

// instant writes a time as the API does, and nothing for no time.
func instant(at time.Time) Maybe {
	if at.IsZero() {
		return ""
	}
	return Maybe(calendar.FormatInstant(at))
}
