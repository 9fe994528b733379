package landfall

import (
	"context"
	"time"
)

// Organisation is a supplier's or integrator's team that calls the API.
type Organisation struct {
	Name      string
	Disabled  bool
	Quotas    Quotas
	CreatedAt time.Time
}

// Role says what an API key's holder may do.
type Role string

// The roles.
const (
	RoleImporter Role = "importer" // reads and writes
	RoleViewer   Role = "viewer"   // reads
)

// APIKey is an organisation's credential. The secret is shown once, when it is
// made; only its hash is kept.
type APIKey struct {
	ID           string // public part, safe to show and to log
	Organisation string
	Role         Role
	SecretHash   [32]byte
	CreatedAt    time.Time
	ExpiresAt    time.Time // zero: never
	RevokedAt    time.Time // zero: not revoked
	UsedAt       time.Time // give or take a minute; zero: never
}

// TokenUse says what a service token is good for.
type TokenUse string

// The two uses of a service token.
const (
	AccessToken  TokenUse = "access"
	RefreshToken TokenUse = "refresh"
)

// ServiceToken is a short-lived credential obtained with an API key.
type ServiceToken struct {
	Hash      [32]byte // SHA-256 of the token's text
	Use       TokenUse
	KeyID     string
	ExpiresAt time.Time
	SpentAt   time.Time // refresh tokens are good once; zero: unspent
	Family    TokenFamily
}

// TokenFamily is all the tokens that come from one login, each bought with the
// refresh token before it. It ends as a whole.
type TokenFamily struct {
	ID     [32]byte  // zero for tokens from before there were families
	EndsAt time.Time // at the latest, however often it is refreshed
	Ended  bool      // before its time, because a refresh token was used twice
}

// Principal is who is asking: the answer to a good token.
type Principal struct {
	Organisation string
	KeyID        string
	Role         Role
	RequestID    string // of what is asked; the edge sets it
	Source       string // the address it came from; the edge sets it too
	Quotas       Quotas // of the organisation
	// Operator is who acts where no organisation does, as the audit names him.
	Operator string
}

// Author names whoever writes something, as it is kept beside what was written.
func (p Principal) Author() Author {
	return Author{Organisation: p.Organisation, KeyID: p.KeyID, RequestID: p.RequestID, Source: p.Source, Operator: p.Operator}
}

// Audit is the entry for something that is done in a key's name.
func (p Principal) Audit(action, subject, detail string) AuditEntry {
	return AuditEntry{
		Actor: "key:" + p.KeyID, Action: action, Subject: subject, Detail: detail, Source: p.Source, RequestID: p.RequestID,
	}
}

// Author is who wrote something through the API: which key of which
// organisation, in which request. Nothing of it is kept beside what an operator
// did, whose acts are in the audit, and what was written before authors were kept.
type Author struct {
	Organisation string // read from the key; a key never changes it
	KeyID        string
	RequestID    string
	Source       string // the address it came from; only the audit keeps it
	Operator     string // "operator:<login>", where no key acts; only the audit keeps it
}

// IsOperator reports whether an operator is the author, and none of the API's
// callers.
func (a Author) IsOperator() bool { return a.KeyID == "" && a.Organisation == "" }

// CredentialReader reads organisations, keys and tokens.
type CredentialReader interface {
	Organisation(ctx context.Context, name string) (Organisation, error)
	Organisations(ctx context.Context) ([]Organisation, error)
	// BytesSent returns how many bytes an organisation has sent on a day, written
	// YYYY-MM-DD.
	BytesSent(ctx context.Context, organisation, day string) (int64, error)
	// Key returns an API key by its public id, also a revoked or expired one.
	Key(ctx context.Context, id string) (APIKey, error)
	// Keys returns the keys of an organisation, or of all with "", oldest first.
	Keys(ctx context.Context, organisation string) ([]APIKey, error)
	// Token returns a service token by the hash of its text, also a spent or
	// expired one, with its key and the key's organisation.
	Token(ctx context.Context, hash [32]byte) (ServiceToken, APIKey, Organisation, error)
}

// CredentialWriter changes organisations, keys and tokens.
type CredentialWriter interface {
	OrganisationWriter
	KeyWriter
	TokenWriter
}

// OrganisationWriter changes organisations and their quotas.
type OrganisationWriter interface {
	CreateOrganisation(ctx context.Context, name string) error // or ErrExists; with the default quotas
	// SetQuotas replaces the quotas of an organisation, or returns ErrNotFound.
	SetQuotas(ctx context.Context, name string, quotas Quotas) error
	// AddBytesSent adds to the bytes an organisation has sent on a day and returns
	// the sum. Concurrent calls lose nothing. Old days are deleted.
	AddBytesSent(ctx context.Context, organisation, day string, bytes int64) (int64, error)
	SetOrganisationDisabled(ctx context.Context, name string, disabled bool) error
}

// KeyWriter changes API keys.
type KeyWriter interface {
	// CheckAuthor returns ErrRevoked when an author's key was revoked or has
	// expired, or its organisation is disabled. Whoever writes in the name of a key
	// through Update calls it in the same transaction. The empty author is an
	// operator and passes.
	CheckAuthor(ctx context.Context, author Author) error
	CreateKey(ctx context.Context, key APIKey) error // sets CreatedAt
	// RevokeKey revokes a key; its tokens stop working at once. Revoking again
	// keeps the first time. ErrNotFound when there is no such key.
	RevokeKey(ctx context.Context, id string) error
	// MarkKeysUsed records that keys are in use now, unless that was recorded less
	// than a minute ago. Unknown ids are ignored.
	MarkKeysUsed(ctx context.Context, ids ...string) error
	// ExpireKey moves a key's end forward to an instant (the overlap of a
	// rotation).
	ExpireKey(ctx context.Context, id string, at time.Time) error
}

// TokenWriter changes tokens and their families.
type TokenWriter interface {
	SaveTokens(ctx context.Context, tokens ...ServiceToken) error
	// StartFamily stores a new family of tokens; again changes nothing.
	StartFamily(ctx context.Context, family TokenFamily) error
	// EndFamily ends every token of a family, now and in future.
	EndFamily(ctx context.Context, id [32]byte) error
	// DropEndedFamilies deletes families that ended before an instant, at most
	// limit of them. All their tokens have ended by then.
	DropEndedFamilies(ctx context.Context, before time.Time, limit int) (int, error)
	// SpendToken uses up a refresh token: it returns nil to exactly one caller, and
	// ErrNotFound for an unknown, expired or spent token and for one whose family
	// has ended.
	SpendToken(ctx context.Context, hash [32]byte) error
	// DropExpiredTokens deletes tokens that ended before an instant, the oldest
	// first and at most limit of them, and returns how many.
	DropExpiredTokens(ctx context.Context, before time.Time, limit int) (int, error)
}
