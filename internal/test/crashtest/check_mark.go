package crashtest

import "landfall"

// marks checks skip marks: each confirmed change has its event, skips and
// unskips alternate, and the state is that of the last change.
func (c *checker) marks() {
	skipped := false
	for _, event := range c.found.Events {
		if event.Type != landfall.EventSkipped && event.Type != landfall.EventUnskipped {
			continue
		}
		if marking := event.Type == landfall.EventSkipped; marking == skipped {
			c.faultf("event %s comes twice in a row", event.Type)
		} else {
			skipped = marking
		}
	}
	if stands := c.found.Process != nil && c.found.Process.State == landfall.Skipped; stands != skipped {
		c.faultf("its events say skipped: %v, its state says %v", skipped, stands)
	}
	c.marked(Skip, landfall.EventSkipped)
	c.marked(Unskip, landfall.EventUnskipped)
	for _, mark := range c.of(Skip) {
		if mark.done() && c.stays(mark) {
			c.blocksLaterRequests(mark)
		}
	}
}

// marked compares the events of a change with the requests for it.
func (c *checker) marked(verb Verb, kind landfall.EventType) {
	done, open := 0, 0
	for _, entry := range c.of(verb) {
		if entry.done() {
			done++
		} else if entry.open() {
			open++
		}
	}
	if told := c.eventCounts()[kind]; told < done || told > done+open {
		c.faultf("%d events tell of %s, %d were answered and %d can have been", told, verb, done, done+open)
	}
}

// stays reports that no request can have removed a mark again.
func (c *checker) stays(mark *Entry) bool {
	for _, entry := range c.of(Unskip) {
		if !entry.refused() && !mark.over(entry) {
			return false
		}
	}
	return true
}

// blocksLaterRequests checks that no request succeeded that was sent after a mark was set.
func (c *checker) blocksLaterRequests(mark *Entry) {
	for _, entry := range c.entries {
		past := entry.ran() || entry.done() && (entry.Verb == Stage || entry.Verb == Process)
		if past && entry.after(mark) {
			c.faultf("was skipped, and the next caller was answered %d %s to %s", entry.Answer.Status, entry.Answer.Code, entry.Verb)
		}
	}
}
