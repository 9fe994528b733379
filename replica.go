package landfall

import (
	"context"
	"time"
)

// Replica is one server of the database, as it reports itself.
type Replica struct {
	ID        string // random, new at every start
	Host      string
	Version   string
	StartedAt time.Time // by the database's clock, like SeenAt
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
	// RemoveReplica records that a server has stopped.
	RemoveReplica(ctx context.Context, id string) error
}
