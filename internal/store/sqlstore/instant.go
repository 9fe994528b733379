package sqlstore

import (
	"database/sql"
	"time"
)

// microsArg returns an instant as the databases store it; the zero time is
// NULL.
func microsArg(at time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: at.UnixMicro(), Valid: !at.IsZero()}
}

// instant converts a stored value back to a time; it is the inverse of
// microsArg.
func instant(kept sql.NullInt64) time.Time {
	if !kept.Valid {
		return time.Time{}
	}
	return time.UnixMicro(kept.Int64).UTC()
}

// moment is like instant for columns that are never NULL.
func moment(kept int64) time.Time { return time.UnixMicro(kept).UTC() }

// hashOf converts a stored hash to an array.
func hashOf(kept []byte) (hash [32]byte) {
	copy(hash[:], kept)
	return hash
}
