package crashtest

import (
	"fmt"
	"maps"
	"slices"

	"landfall"
)

// Audited counts the audit entries about a key, by action.
type Audited map[landfall.Key]map[string]int

// CheckAudit compares what was found with the audit: every change has exactly
// one entry, and no entry is about something that did not happen. A change and
// its entry are written in one transaction, so kills make no difference.
func CheckAudit(state State, audited Audited) []string {
	var faults []string
	for _, key := range slices.SortedFunc(maps.Keys(state.Found), byText) {
		found := state.Found[key]
		told := (&checker{found: found}).eventCounts()
		for action, want := range map[string]int{
			"account.stage":            len(found.Revisions),
			"account_import.completed": told[landfall.EventImportCompleted],
			"account.post": told[landfall.EventNotesCreated] + told[landfall.EventTransactionsCreated] +
				told[landfall.EventStatementsCreated] + told[landfall.EventInstructionCreated],
			"account.skip":   told[landfall.EventSkipped],
			"account.unskip": told[landfall.EventUnskipped],
			"account.undo":   told[landfall.EventUndone],
		} {
			if got := audited[key][action]; got != want {
				faults = append(faults, fmt.Sprintf("%s: the audit has %d entries about %s, and it happened %d times", key.External, got, action, want))
			}
		}
	}
	return faults
}
