package landfall

import (
	"context"
	"time"
)

// CredentialReader reads organisations, keys and tokens.
type CredentialReader interface {
	Organisation(ctx context.Context, name string) (Organisation, error)
	Organisations(ctx context.Context) ([]Organisation, error)
	// BytesSent says how many bytes an organisation has sent on a day, written
	// YYYY-MM-DD.
	BytesSent(ctx context.Context, organisation, day string) (int64, error)
	// Key gives an API key by its public id, revoked and expired ones too.
	Key(ctx context.Context, id string) (APIKey, error)
	// Keys gives the keys of an organisation, or of all with "", oldest first.
	Keys(ctx context.Context, organisation string) ([]APIKey, error)
	// Token gives a service token by the hash of its text, spent and expired
	// ones too, with the key it came from and that key's organisation.
	Token(ctx context.Context, hash [32]byte) (ServiceToken, APIKey, Organisation, error)
}

// CredentialWriter changes who may come in, and as whom.
type CredentialWriter interface {
	OrganisationWriter
	KeyWriter
	TokenWriter
}

// OrganisationWriter changes organisations and what they may take.
type OrganisationWriter interface {
	CreateOrganisation(ctx context.Context, name string) error // or ErrExists; with the default quotas
	// SetQuotas replaces the quotas of an organisation, or ErrNotFound.
	SetQuotas(ctx context.Context, name string, quotas Quotas) error
	// AddBytesSent adds to what an organisation has sent on a day and gives the
	// sum; of many at once none is lost. Days long gone are forgotten.
	AddBytesSent(ctx context.Context, organisation, day string, bytes int64) (int64, error)
	SetOrganisationDisabled(ctx context.Context, name string, disabled bool) error
}

// KeyWriter changes API keys.
type KeyWriter interface {
	// CheckAuthor answers ErrRevoked when an author's key was revoked, has ended or is
	// of a disabled organisation. Whatever is written in the name of a key through
	// Update asks for it in the same transaction. No author is a good one: an
	// operator.
	CheckAuthor(ctx context.Context, author Author) error
	CreateKey(ctx context.Context, key APIKey) error // CreatedAt is set here
	// RevokeKey marks a key; its tokens are worthless from then on. Revoking
	// again keeps the first time. ErrNotFound when there is no such key.
	RevokeKey(ctx context.Context, id string) error
	// MarkKeysUsed notes that keys are in use now, unless that was noted less than a
	// minute ago. Unknown ones are left out.
	MarkKeysUsed(ctx context.Context, ids ...string) error
	// ExpireKey brings a key's end forward to an instant (rotation's overlap).
	ExpireKey(ctx context.Context, id string, at time.Time) error
}

// TokenWriter changes tokens and the families that a refreshed one comes from.
type TokenWriter interface {
	SaveTokens(ctx context.Context, tokens ...ServiceToken) error
	// StartFamily keeps a new family of tokens; again changes nothing.
	StartFamily(ctx context.Context, family TokenFamily) error
	// EndFamily ends every token of a family, now and to come.
	EndFamily(ctx context.Context, id [32]byte) error
	// DropEndedFamilies forgets families whose end was before an instant, with
	// whom all their tokens have ended, and no more than a limit.
	DropEndedFamilies(ctx context.Context, before time.Time, limit int) (int, error)
	// SpendToken uses up a refresh token: nil for exactly one caller, and
	// ErrNotFound for an unknown, expired or spent one and one whose family
	// has ended.
	SpendToken(ctx context.Context, hash [32]byte) error
	// DropExpiredTokens forgets tokens that ended before an instant, the oldest
	// first and at most limit of them, and says how many it forgot.
	DropExpiredTokens(ctx context.Context, before time.Time, limit int) (int, error)
}
