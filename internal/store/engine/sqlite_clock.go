package engine

import (
	"database/sql/driver"
	"time"

	"modernc.org/sqlite"
)

// SQLite's own clock ticks in milliseconds, which is too coarse for the order
// of first stagings. The database's clock of an embedded database is that of
// the host, so it is asked directly.
func init() {
	sqlite.MustRegisterScalarFunction("now_micros", 0,
		func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			return time.Now().UnixMicro(), nil
		})
	// There is one writer, so nobody else holds a lock.
	sqlite.MustRegisterScalarFunction("try_lock", 2,
		func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) { return int64(1), nil })
}
