package landfall

import "time"

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
