package landfall

import (
	"context"
	"time"
)

// Replica is one server over the database, as it reports itself.
type Replica struct {
	ID        string // drawn at its start
	Host      string
	Version   string
	StartedAt time.Time // by the database's clock, as both are
	SeenAt    time.Time
}

// ReplicaReader reads which servers are up.
type ReplicaReader interface {
	// Replicas returns the servers seen within a duration, the oldest first.
	Replicas(ctx context.Context, within time.Duration) ([]Replica, error)
}

// ReplicaWriter records which servers are up.
type ReplicaWriter interface {
	// TouchReplica records that a server is up, and deletes those not seen for a
	// day.
	TouchReplica(ctx context.Context, replica Replica) error
}
