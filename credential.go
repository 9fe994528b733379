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

// Role is what the holder of an API key may do.
type Role string

// The roles.
const (
	RoleImporter Role = "importer" // reads and writes
	RoleViewer   Role = "viewer"   // reads statuses and lists
	RoleReader   Role = "reader"   // is a viewer that also reads whole accounts
)

// Roles lists all roles.
var Roles = []Role{RoleImporter, RoleViewer, RoleReader}

// APIKey is an organisation's credential. The secret is shown once, when the key
// is created; only its hash is stored.
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

// TokenUse is what a service token can be used for.
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
	SpentAt   time.Time // a refresh token can be used once; zero: not used
	Family    TokenFamily
}

// TokenFamily is all the tokens that come from one login through refresh tokens.
// It ends as a whole.
type TokenFamily struct {
	ID     [32]byte  // zero for tokens without a family
	EndsAt time.Time // at the latest, however often it is refreshed
	Ended  bool      // early, because a refresh token was used twice
}

// Principal is the authenticated caller.
type Principal struct {
	Organisation string
	KeyID        string
	Role         Role
	RequestID    string // set by the HTTP layer
	Source       string // the client's address, set by the HTTP layer
	Delivery     string // that the request belongs to, set by the HTTP layer; "" when it named none
	Quotas       Quotas // of the organisation
	Priority     Priority
	// Operator is who acts when no organisation does, as the audit names them.
	Operator string
}

// Caller returns for whom a store works when the principal asks.
func (p Principal) Caller() Caller { return Caller{p.Organisation, p.Priority} }

// Author returns the author that is stored with what the caller writes.
func (p Principal) Author() Author {
	return Author{Organisation: p.Organisation, KeyID: p.KeyID, RequestID: p.RequestID, Source: p.Source, Operator: p.Operator, Delivery: p.Delivery}
}

// Audit returns the audit entry for a change in the name of a key.
func (p Principal) Audit(action, subject, detail string) AuditEntry {
	return AuditEntry{
		Actor: "key:" + p.KeyID, Action: action, Subject: subject, Detail: detail, Source: p.Source, RequestID: p.RequestID,
	}
}

// Author is who wrote something through the API: which key of which
// organisation, in which request. It is empty for operators, whose changes are in
// the audit.
type Author struct {
	Organisation string // of the key, which never changes it
	KeyID        string
	RequestID    string
	Source       string // the client's address; stored in the audit only
	Operator     string // "operator:<login>" or "shell:<login>" when no key acts; stored in the audit and with control totals
	Delivery     string // that the request belongs to; stored with staged accounts and postings
}

// IsOperator reports whether the author is an operator and not a caller of the
// API.
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
	// expired, or its organisation is disabled. A caller that writes in the name
	// of a key through Update calls it in the same transaction. The empty author
	// is an operator and passes.
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
