package calendar

import (
	"sync"
	"time"
)

// zones remembers time zones by name: loading one reads a file.
var zones sync.Map

// Zone gives a time zone by its name. The operator's commands refuse an unknown
// one, so a zone that fails to load means a broken host: UTC then.
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
