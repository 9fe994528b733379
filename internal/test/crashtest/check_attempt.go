package crashtest

import (
	"maps"

	"landfall"
)

// An attempt that ran and made no account leaves one event, which depends on
// its outcome. Other refusals come before an attempt starts.
var (
	failed = map[string]landfall.EventType{
		landfall.CodeInstructionNotFound: landfall.EventImportFailed,
	}
	tried = map[string]landfall.EventType{
		landfall.CodeInstructionNotFound: landfall.EventDryRunFailed,
		landfall.CodeDryRunRolledBack:    landfall.EventDryRunCompleted,
	}
)

// ran reports whether a response is about an attempt that ran and made no
// account.
func (e *Entry) ran() bool {
	ends := map[Verb]map[string]landfall.EventType{Process: failed, DryRun: tried}[e.Verb]
	return e.Answer != nil && e.refused() && ends[e.Answer.Code] != ""
}

// attempts checks that every attempt with a response has its record, and that
// each attempt without one has at most one. Records are as durable as accounts.
func (c *checker) attempts() {
	c.recorded(Process, failed)
	c.recorded(DryRun, tried)
}

// recorded counts the events of attempts. An attempt whose response was lost
// may have left one event or none, so there is a minimum and a maximum.
func (c *checker) recorded(verb Verb, ends map[string]landfall.EventType) {
	least, open := map[landfall.EventType]int{}, 0
	for _, entry := range c.of(verb) {
		switch {
		case entry.ran():
			least[ends[entry.Answer.Code]]++
		case entry.open():
			open++
		}
	}
	told, all, sure := c.eventCounts(), 0, 0
	for kind := range maps.Values(ends) {
		all += told[kind]
		sure += least[kind]
		if told[kind] < least[kind] {
			c.faultf("%d events tell of %s, %d such attempts were answered", told[kind], kind, least[kind])
		}
	}
	if all > sure+open {
		c.faultf("%d events tell of attempts by %s, %d can have been", all, verb, sure+open)
	}
}

// lastAttempt checks that the stored failure is that of the last attempt. It
// does so only when the history knows which attempt was last: nothing else was
// in flight when it began, and nothing was tried or staged since.
func (c *checker) lastAttempt() {
	if c.found.Account != nil || c.found.Process == nil {
		return
	}
	var last *Entry
	for _, entry := range c.entries {
		if entry.ran() && (last == nil || entry.began > last.began) {
			last = entry
		}
	}
	if last == nil {
		return
	}
	for _, entry := range c.entries {
		// A creation clears the failure, and after an undo nothing else shows
		// that there was one. A dry run holds no claim, so a skip can overtake
		// it, and no failure is stored for a skipped process.
		effect := entry.ran() || entry.open() || entry.Verb == Stage || entry.Verb == Process && entry.done() ||
			entry.Verb == Skip && last.Verb == DryRun && !entry.over(last)
		if entry != last && effect && !last.over(entry) {
			return
		}
	}
	failure := c.found.Process.Failure
	switch clean := last.Answer.Code == landfall.CodeDryRunRolledBack; {
	case clean && failure != nil:
		c.faultf("the last attempt succeeded, and failure %s is kept", failure.Code)
	case !clean && failure == nil:
		c.faultf("the last attempt failed with %s, and no failure is kept", last.Answer.Code)
	case !clean && (failure.Code != last.Answer.Code || failure.DryRun != (last.Verb == DryRun)):
		c.faultf("the last attempt (%s) failed with %s, and failure %s (dry run: %v) is kept", last.Verb, last.Answer.Code, failure.Code, failure.DryRun)
	}
}
