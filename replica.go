package landfall

import (
	"context"
	"strings"
	"time"
)

// Replica is one server of the database, as it reports itself.
type Replica struct {
	ID        string // random, new at every start
	Host      string
	Version   string
	Doing     string    // what it works on, in a few words
	StartedAt time.Time // by the database's clock, like SeenAt
	SeenAt    time.Time
}

// Name returns a short name of this server, the same in lists, in PostgreSQL's
// application_name and in telemetry.
func (r Replica) Name() string { return r.Host + "/" + strings.ToLower(r.ID[:min(6, len(r.ID))]) }

// DatabaseHealth is what an operator should hear of before it is too late.
type DatabaseHealth struct {
	Standbys   int       // connected to the PostgreSQL server
	BackedUpAt time.Time // zero: never
	KeyEndsAt  time.Time // when the next API key in use expires; zero: none does
}

// ReplicaReader reads which servers are up.
type ReplicaReader interface {
	// Replicas returns the servers seen within a duration, the oldest first.
	Replicas(ctx context.Context, within time.Duration) ([]Replica, error)
	// DatabaseHealth returns what is known about standbys, backups and keys.
	DatabaseHealth(ctx context.Context) (DatabaseHealth, error)
}

// ReplicaWriter records which servers are up.
type ReplicaWriter interface {
	// TouchReplica records that a server is up, and deletes those not seen for a
	// day.
	TouchReplica(ctx context.Context, replica Replica) error
	// RemoveReplica records that a server has stopped.
	RemoveReplica(ctx context.Context, id string) error
	// RecordBackup records that a backup was made now.
	RecordBackup(ctx context.Context) error
}
