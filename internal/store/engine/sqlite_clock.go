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
}
