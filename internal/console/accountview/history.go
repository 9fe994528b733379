package accountview

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Failure is why the last attempt failed, or why a posting was refused.
type Failure struct {
	At      NullString  `json:"at"`
	Posting string      `json:"posting,omitempty"` // its kind, as in the list of failures
	Code    string      `json:"code"`
	Detail  string      `json:"detail"`
	DryRun  bool        `json:"dry_run"`
	Errors  []Violation `json:"errors"`
}

// PostingLabel names what was refused, for people.
func (f Failure) PostingLabel() string {
	return map[string]string{
		string(landfall.PostingNotes): "Notes", string(landfall.PostingTransactions): "Transactions",
		string(landfall.PostingStatements): "Statements", string(landfall.PostingInstruction): "A payment instruction",
	}[f.Posting]
}

// Violation is one error in a field, as in the API.
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
	RemovedAt      *NullString     `json:"gone_at,omitempty"` // when the document was deleted
	By             *Author         `json:"by,omitempty"`
	Document       json.RawMessage `json:"document,omitempty"` // personal
}

// Event is a published event of the account.
type Event struct {
	At      NullString        `json:"at"`
	Type    string            `json:"type"`
	Details map[string]string `json:"details,omitempty"`
	By      *Author           `json:"by,omitempty"`
}

// UndoneAccount is an account that was created and undone.
type UndoneAccount struct {
	AccountNumber string     `json:"platform_account_number"`
	CreatedAt     NullString `json:"account_created_at"`
	UndoneAt      NullString `json:"undone_at"`
	Actor         string     `json:"by"`
	Reason        string     `json:"reason"`
	Run           string     `json:"run,omitempty"`
}

// Author is the key and request that wrote something. Operators have none.
type Author struct {
	Organisation string `json:"organisation"`
	Key          string `json:"key"`
	RequestID    string `json:"request_id"`
}

func newFailure(f *landfall.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{formatInstant(f.At), string(f.Posting), f.Code, f.Detail, f.DryRun, convert(f.Violations, func(v landfall.Violation) Violation {
		return Violation{v.Detail, v.Code, v.Attr}
	})}
}

// newRevision includes the hash even without the document: it proves what was sent.
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

// newEvent keeps the details, which contain no personal data.
func newEvent(e landfall.Event) Event {
	return Event{formatInstant(e.At), string(e.Type), e.Details, newAuthor(e.By)}
}

func newUndoneAccount(u landfall.UndoneAccount) UndoneAccount {
	return UndoneAccount{u.Number, formatInstant(u.CreatedAt), formatInstant(u.UndoneAt), u.Actor, u.Reason, u.Run}
}

// newAuthor is nil if no key wrote it.
func newAuthor(by landfall.Author) *Author {
	if by.KeyID == "" {
		return nil
	}
	return &Author{by.Organisation, by.KeyID, by.RequestID}
}

// formatInstant writes a time as the API does. The zero time is empty.
func formatInstant(at time.Time) NullString {
	if at.IsZero() {
		return ""
	}
	return NullString(calendar.FormatInstant(at))
}
