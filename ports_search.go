package landfall

import "context"

// Searcher looks for accounts across suppliers, and keeps what they are found by.
type Searcher interface {
	// Search gives the accounts that the words of a query mean, never more than
	// its limit, and takes no longer with more accounts. By its external number
	// an account is found from its first staging on, by its own number from its
	// creation on, and by everything else soon after that, until it is taken
	// back.
	Search(ctx context.Context, query SearchQuery) (SearchResult, error)

	// IndexTerms enters the terms of accounts created since the last time, as
	// far as the log of events is complete, and says of how many accounts. It
	// can be interrupted and done by several at once: no account is left out,
	// and none that was taken back is entered.
	IndexTerms(ctx context.Context) (accounts int, err error)
}
