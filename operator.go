package landfall

import (
	"context"
	"time"
)

// Operator is a person who can sign in to the console.
type Operator struct {
	Name string
	// Role is the role in the administration and at suppliers without one in
	// SupplierRoles; "" when there is none.
	Role          OperatorRole
	SupplierRoles map[string]OperatorRole // by supplier code
	Disabled      bool
	// Password is the password hash; "" until the operator has chosen a password.
	Password string
	// TOTPSecret is the secret of the second factor; "" when there is none.
	TOTPSecret string
	// TOTPUsed is the last accepted code, so that none is accepted twice.
	TOTPUsed int64
	// TOTPFailures counts wrong codes since the last right one, and TOTPFailedAt is
	// when the last of them came.
	TOTPFailures int
	TOTPFailedAt time.Time
	// Pending is a second factor that is not confirmed yet.
	Pending PendingTOTP
	// RecoveryCodes are the hashes of the codes that replace a lost second factor,
	// once each.
	RecoveryCodes [][32]byte
	// Invitation is the hash of the link to choose a password; zero when there is
	// none.
	Invitation       [32]byte
	InvitationEndsAt time.Time
	// InvitedBy is who created the operator or reset the sign-in last, as the audit
	// names them.
	InvitedBy  string
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was chosen; zero until then
	SignedInAt time.Time // the last time; zero until then
	// ResetAt is when InvitedBy reset the sign-in; zero once the operator was told.
	ResetAt time.Time
}

// Invited reports whether there is a link to choose a password.
func (o *Operator) Invited() bool { return o.Invitation != [32]byte{} }

// PendingTOTP is the secret of a second factor that no code has confirmed yet.
type PendingTOTP struct {
	Secret  string // "" when there is none
	Session string // id of the session that asked for it and may confirm it
	EndsAt  time.Time
}

// Device is a browser in which an operator has signed in. It proves nothing, but its
// sign-ins do not wait behind those of unknown callers.
type Device struct {
	Hash     [32]byte // of the secret in the browser's cookie
	Operator string
	Network  string // where it was used last
}

// Session is an operator signed in with one browser.
type Session struct {
	ID        string   // identifies it in lists; not secret
	Hash      [32]byte // of the secret in the browser's cookie
	Operator  string
	Address   string // the client's address
	Agent     string // the browser's User-Agent
	Method    string // how the operator signed in: SignInPassword and so on
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	EndsAt    time.Time // at the latest
}

// How operators sign in.
const (
	SignInPassword = "password"
	SignInProvider = "provider" // an OpenID Connect provider
	SignInPasskey  = "passkey"
)

// Passkey is a key of an operator's device, with which they sign in.
type Passkey struct {
	Operator   string
	Name       string // that the operator gave it
	ID         []byte // that the device gave it
	Credential string // its public key and counters, as JSON
	CreatedAt  time.Time
	UsedAt     time.Time // zero: never
}

// PasskeyChallenge is what a passkey has to sign.
type PasskeyChallenge struct {
	Hash    [32]byte
	Session string // id of the session that registers a passkey; "" for a sign-in
	Data    string
}

// OperatorReader reads operators and their console sessions.
type OperatorReader interface {
	// Operator returns one by name, or ErrNotFound.
	Operator(ctx context.Context, name string) (Operator, error)
	// Operators returns all, by name.
	Operators(ctx context.Context) ([]Operator, error)
	// InvitedOperator returns the operator whose invitation has a hash and has not
	// expired by the database's clock, or ErrNotFound.
	InvitedOperator(ctx context.Context, invitation [32]byte) (Operator, error)
	// HasOperators reports whether there is any operator.
	HasOperators(ctx context.Context) (bool, error)
	// SetUpLink returns nil if the link with a hash can create the first operator:
	// it has not expired and there is no operator yet. Otherwise ErrNotFound.
	SetUpLink(ctx context.Context, hash [32]byte) error
	// Passkeys returns the passkeys of an operator, the oldest first.
	Passkeys(ctx context.Context, operator string) ([]Passkey, error)
	// Passkey returns one by its ID, or ErrNotFound.
	Passkey(ctx context.Context, id []byte) (Passkey, error)
	// Devices returns the browsers in which an operator has signed in.
	Devices(ctx context.Context, operator string) ([]Device, error)
	// Session returns the session whose secret has a hash, with its operator.
	// ErrNotFound when there is none, when it is over by the database's clock, or
	// when it was idle for longer than the given time.
	Session(ctx context.Context, hash [32]byte, idle time.Duration) (Session, Operator, error)
	// Sessions returns the sessions of an operator that are not over, or everyone's
	// with "", the last used first.
	Sessions(ctx context.Context, operator string, idle time.Duration) ([]Session, error)
}

// OperatorWriter changes operators and their sessions. A Tx locks an operator
// that it reads by name or invitation until it ends.
type OperatorWriter interface {
	// CreateOperator stores a new one, or returns ErrExists. It sets CreatedAt.
	CreateOperator(ctx context.Context, operator Operator) error
	// SaveOperator replaces an existing one, or returns ErrNotFound.
	SaveOperator(ctx context.Context, operator Operator) error
	// OfferSetUpLink stores the hash of a link for a duration.
	OfferSetUpLink(ctx context.Context, hash [32]byte, length time.Duration) error
	// UseSetUpLink uses up a link and ends all others, or returns ErrNotFound like
	// SetUpLink. Of several callers at once only one gets nil.
	UseSetUpLink(ctx context.Context, hash [32]byte) error
	// AddPasskey stores a new passkey, or returns ErrExists when its ID is known or its
	// operator has one of that name. It sets CreatedAt.
	AddPasskey(ctx context.Context, passkey Passkey) error
	// UsePasskey records that a passkey was used, with its new counters, or returns
	// ErrNotFound.
	UsePasskey(ctx context.Context, id []byte, credential string) error
	// RemovePasskey removes a passkey of an operator, or returns ErrNotFound.
	RemovePasskey(ctx context.Context, operator, name string) error
	// RemovePasskeys removes all passkeys of an operator.
	RemovePasskeys(ctx context.Context, operator string) error
	// OfferChallenge stores a challenge for a duration. It forgets those that are over
	// and all but the newest ones, so many of them.
	OfferChallenge(ctx context.Context, challenge PasskeyChallenge, length time.Duration, most int) error
	// TakeChallenge deletes a challenge of a session and returns its data, or
	// ErrNotFound when it is over or was taken. Of several callers one gets it.
	TakeChallenge(ctx context.Context, hash [32]byte, session string) (string, error)
	// SaveDevice stores a browser or where it was used last. It forgets all but the
	// most recently used ones of its operator, so many of them.
	SaveDevice(ctx context.Context, device Device, most int) error
	// DropDevices forgets all browsers of an operator.
	DropDevices(ctx context.Context, operator string) error
	// StartSession stores a new session for a duration and records that its
	// operator has signed in. It sets the times.
	StartSession(ctx context.Context, session Session, length time.Duration) error
	// TouchSession records that a session is in use, unless that was recorded
	// within the last minute.
	TouchSession(ctx context.Context, id string) error
	// EndSession ends one at once, or returns ErrNotFound.
	EndSession(ctx context.Context, id string) error
	// EndSessions ends all sessions of an operator except the one with an id, and
	// returns how many there were.
	EndSessions(ctx context.Context, operator, except string) (int, error)
	// DropEndedSessions deletes sessions that are over, at most limit of them.
	DropEndedSessions(ctx context.Context, limit int) (int, error)
}
