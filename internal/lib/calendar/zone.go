package calendar

import (
	"sync"
	"time"
)

// zones caches time zones by name, because loading one reads a file.
var zones sync.Map

// Zone returns a time zone by name. The operator's commands refuse unknown
// names, so a zone that cannot be loaded means a broken host; then it returns
// UTC.
func Zone(name string) *time.Location {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location) //nolint:forcetypeassert // nothing else is stored below
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}
