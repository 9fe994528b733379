package crashtest

import "landfall"

// State is everything that was found at the end of a run.
type State struct {
	Found  map[landfall.Key]*Found
	Strays []string // rows that belong to no account, described
}

// Found is what was found about one key, through the API and in the store.
type Found struct {
	// The API's view. Status is "" when the response was 404. A list contains
	// the account number of each entry of the key, "" for null.
	Status       string
	StatusNumber string
	All          []string
	Pending      []string
	Imported     []string

	// The store's view. Absent values are nil.
	Process   *landfall.Process
	Revisions []landfall.StagedRevision
	Account   *landfall.Account
	Events    []landfall.Event
	Undone    []landfall.UndoneAccount // oldest first
	Refusal   string                   // code of the last refused staging
	Mails     int                      // queued for the customers
}

// The states of the status endpoint.
const (
	unknown   = "UNKNOWN"
	completed = "COMPLETED"
)
