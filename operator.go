package landfall

import "time"

// OperatorRole says what somebody who signs in to the console may do.
type OperatorRole string

// The roles. ConsoleSupport reads everything; an operator acts as well.
const (
	ConsoleOperator OperatorRole = "operator"
	ConsoleSupport        OperatorRole = "support"
)

// OperatorRoles lists the roles, the one that may do more first.
var OperatorRoles = []OperatorRole{ConsoleOperator, ConsoleSupport}

// Operator is somebody who may sign in to the console.
type Operator struct {
	Name     string
	Role     OperatorRole
	Disabled bool
	// Password is what a password is checked against; "" until its owner chose one.
	Password string
	// Second is the secret of the second factor; "" when there is none.
	TOTPSecret string
	// SecondUsed is the last of its codes that was accepted, so that none is
	// accepted twice.
	TOTPUsed int64
	// Invitation is the hash of the link by which a password is chosen; no
	// bytes when there is none.
	Invitation       [32]byte
	InvitationEndsAt time.Time
	CreatedAt        time.Time
	PasswordAt       time.Time // when the password was chosen; zero until then
	SignedInAt       time.Time // the last time; zero until then
}

// Invited reports whether a link to choose a password is out.
func (o *Operator) Invited() bool { return o.Invitation != [32]byte{} }

// Session is a time during which somebody is signed in with one browser.
type Session struct {
	ID        string   // names it in lists; no secret
	Hash      [32]byte // of the secret that the browser holds
	Operator  string
	Address   string // where it was opened from
	Agent     string // the browser, in its own words
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	EndsAt    time.Time // at the latest
}
