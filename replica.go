package landfall

import "time"

// Replica is one server over the database, as it reports itself.
type Replica struct {
	ID        string // drawn at its start
	Host      string
	Version   string
	StartedAt time.Time // by the database's clock, as both are
	SeenAt    time.Time
}
