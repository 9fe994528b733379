package landfall

import (
	"context"
	"time"
)

// OperatorReader reads who may sign in to the console, and who has.
type OperatorReader interface {
	// Operator gives one by its name, or ErrNotFound.
	Operator(ctx context.Context, name string) (Operator, error)
	// Operators gives all, by name.
	Operators(ctx context.Context) ([]Operator, error)
	// InvitedOperator gives the one whose invitation has a hash and has not
	// ended by the database's clock, or ErrNotFound.
	InvitedOperator(ctx context.Context, invitation [32]byte) (Operator, error)
	// Session gives the session whose secret has a hash, with its operator, or
	// ErrNotFound; of one that is over by the database's clock or has not been
	// seen for an idle time too.
	Session(ctx context.Context, hash [32]byte, idle time.Duration) (Session, Operator, error)
	// Sessions gives the sessions of an operator that are not over, or of
	// everybody with "", those seen last first.
	Sessions(ctx context.Context, operator string, idle time.Duration) ([]Session, error)
	// Replicas gives the servers that were seen within a time, the oldest first.
	Replicas(ctx context.Context, within time.Duration) ([]Replica, error)
}

// OperatorWriter changes who may sign in to the console. What a Tx reads of an
// operator by its name or invitation it holds until it ends.
type OperatorWriter interface {
	// CreateOperator keeps a new one, or ErrExists. CreatedAt is set here.
	CreateOperator(ctx context.Context, operator Operator) error
	// SaveOperator replaces an existing one, or ErrNotFound.
	SaveOperator(ctx context.Context, operator Operator) error
	// StartSession keeps a new session, for so long, and notes that its operator
	// has signed in. The times are set here.
	StartSession(ctx context.Context, session Session, length time.Duration) error
	// TouchSession notes that a session is in use, unless that was noted within
	// the last minute.
	TouchSession(ctx context.Context, id string) error
	// EndSession ends one at once, or ErrNotFound.
	EndSession(ctx context.Context, id string) error
	// EndSessions ends all of an operator but the one with an id, and says how
	// many there were.
	EndSessions(ctx context.Context, operator, except string) (int, error)
	// DropEndedSessions forgets sessions that are over, at most so many.
	DropEndedSessions(ctx context.Context, limit int) (int, error)
	// TouchReplica notes that a server is there, and forgets those that were not
	// seen for a day.
	TouchReplica(ctx context.Context, replica Replica) error
}
