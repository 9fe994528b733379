package crashtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"landfall"
)

// Check compares what callers saw with what was found and returns a sentence
// for each broken promise.
func Check(history *History, state State) []string {
	history.mutex.Lock()
	defer history.mutex.Unlock()
	byKey := map[landfall.Key][]*Entry{}
	for _, entry := range history.entries {
		byKey[entry.Key] = append(byKey[entry.Key], entry)
	}
	// Also check what is present although no caller asked for it.
	keys := maps.Clone(byKey)
	for key := range state.Found {
		keys[key] = nil
	}
	var faults []string
	numbers := map[string]landfall.Key{}
	for _, key := range slices.SortedFunc(maps.Keys(keys), byText) {
		c := &checker{key: key, entries: byKey[key], found: state.Found[key]}
		if c.found == nil {
			c.found = &Found{}
		}
		c.check()
		faults = append(faults, c.faults...)
		// Includes the numbers of undone accounts: no other account must ever
		// have them.
		for _, number := range c.numbers() {
			if other, taken := numbers[number]; taken && other != key {
				faults = append(faults, fmt.Sprintf("%s and %s share the number %s", other.External, key.External, number))
			}
			numbers[number] = key
		}
	}
	return append(faults, state.Strays...)
}

// byText orders keys, so that two runs report faults in the same order.
func byText(a, b landfall.Key) int {
	return strings.Compare(a.Supplier+"\x00"+a.External, b.Supplier+"\x00"+b.External)
}

type checker struct {
	key     landfall.Key
	entries []*Entry
	found   *Found
	faults  []string
}

// faultf records a fault and continues: the pattern of many faults says more
// than the first one.
func (c *checker) faultf(format string, arguments ...any) {
	c.faults = append(c.faults, c.key.External+": "+fmt.Sprintf(format, arguments...))
}

// check runs every check of one account. Each relies only on the responses that
// callers received, never on how the program works.
func (c *checker) check() {
	if len(c.entries) == 0 {
		c.faultf("is there although nobody asked for it")
	}
	c.staging()
	c.refusals()
	c.creation()
	c.undos()
	c.contradictions()
	c.apiAgreesWithStore()
	c.notes()
	c.transactions()
	c.statements()
	c.instructions()
	c.ledger()
	c.events()
	c.attempts()
	c.lastAttempt()
	c.marks()
}

// of returns the entries of a verb. A posting that an undo may have taken back is
// as uncertain as one without a response.
func (c *checker) of(verb Verb) []*Entry {
	var chosen []*Entry
	for _, entry := range c.entries {
		if entry.Verb != verb {
			continue
		}
		if entry.Own && entry.done() && c.firstUndo(entry) != never {
			uncertain := *entry
			uncertain.Answer = nil
			entry = &uncertain
		}
		chosen = append(chosen, entry)
	}
	return chosen
}

// tally counts how often something was sent, by outcome.
type tally struct{ done, open, told int }

// most is how often it can be present.
func (t tally) most() int { return t.done + t.open }

// apiAgreesWithStore compares what the API shows with what the store holds.
func (c *checker) apiAgreesWithStore() {
	found := c.found
	status, number := "", ""
	var all, pending, imported []string
	switch {
	case found.Account != nil:
		status, number = completed, found.Account.Number
		all, imported = []string{number}, []string{number}
		if found.Process == nil || found.Process.State != landfall.Imported || found.Process.AccountNumber != number {
			c.faultf("has account %s, but its process does not say so", number)
		}
	case found.Process != nil && found.Process.State == landfall.Skipped:
		// A skipped process is in no list. A number can be skipped without ever
		// having been staged.
		if status = unknown; len(found.Revisions) == 0 {
			status = found.Status
		}
	case found.Process != nil:
		status, all, pending = unknown, []string{""}, []string{""}
		// No request is in flight at this point, so every claim must have been
		// released.
		if found.Process.State != landfall.Staged {
			c.faultf("is left %s", found.Process.State)
		}
	}
	if found.Status != status || found.StatusNumber != number {
		c.faultf("status shows %q with number %q, want %q with %q", found.Status, found.StatusNumber, status, number)
	}
	for list, pair := range map[string][2][]string{
		"all": {found.All, all}, "pending": {found.Pending, pending}, "imported": {found.Imported, imported},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			c.faultf("the %s list has it with numbers %q, want %q", list, pair[0], pair[1])
		}
	}
}
