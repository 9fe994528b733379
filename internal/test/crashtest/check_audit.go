package crashtest

import (
	"fmt"
	"maps"
	"slices"

	"landfall"
)

// Audited counts the entries of the audit about a key, by action.
type Audited map[landfall.Key]map[string]int

// CheckAudit compares what was found with what the audit says: every change has
// exactly one entry, and there is no entry about what did not happen. Both are
// written in one transaction, whoever is killed when.
func CheckAudit(state State, audited Audited) []string {
	var faults []string
	for _, key := range slices.SortedFunc(maps.Keys(state.Found), byText) {
		found := state.Found[key]
		told := (&checker{found: found}).told()
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
