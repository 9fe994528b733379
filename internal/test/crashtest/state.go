package crashtest

import "landfall"

// State is everything that was found when a run was over.
type State struct {
	Found  map[landfall.Key]*Found
	Strays []string // rows that belong to no account, said in words
}

// Found is what was found about one key, through the API and in the store.
type Found struct {
	// As the API shows it. Status is "" when the answer was 404; a list holds
	// the number of every entry of the key, "" for null.
	Status       string
	StatusNumber string
	All          []string
	Pending      []string
	Imported     []string

	// As the store has it. Absent things are nil.
	Process   *landfall.Process
	Revisions []landfall.StagedRevision
	Account   *landfall.Account
	Events    []landfall.Event
	Undone    []landfall.UndoneAccount // oldest first
	Refusal   string                   // code of the last refused staging on record
	Mails     int                      // queued for the customers
}

// The states of the status endpoint.
const (
	unknown   = "UNKNOWN"
	completed = "COMPLETED"
)
