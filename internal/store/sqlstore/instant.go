package sqlstore

import (
	"database/sql"
	"time"
)

// microsArg gives an instant as the databases keep it; the zero time is NULL.
func microsArg(at time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: at.UnixMicro(), Valid: !at.IsZero()}
}

// instant gives back what micros kept.
func instant(kept sql.NullInt64) time.Time {
	if !kept.Valid {
		return time.Time{}
	}
	return time.UnixMicro(kept.Int64).UTC()
}

// moment is instant for columns that are never NULL.
func moment(kept int64) time.Time { return time.UnixMicro(kept).UTC() }

// hashOf copies a kept hash.
func hashOf(kept []byte) (hash [32]byte) {
	copy(hash[:], kept)
	return hash
}
