package landfall

import "context"

// AccountPageReader reads what may be long a page at a time, whatever its size.
type AccountPageReader interface {
	// AccountPage gives the account of a process with pages of its long
	// lists, or ErrNotFound. It costs what it gives, however long the lists are.
	AccountPage(ctx context.Context, key Key, excerpt AccountPageQuery) (AccountPage, error)
	// KeyByNumber gives the key of the account that has a number, or ErrNotFound.
	KeyByNumber(ctx context.Context, number string) (Key, error)
	// Revision gives one staging with its document, unless that is gone, or
	// ErrNotFound. A document that is not the one that was staged is an error.
	Revision(ctx context.Context, key Key, revision int) (StagedRevision, error)
	// StagingRefusal gives why the last staging of an account was refused, while nothing
	// was staged since, or ErrNotFound.
	StagingRefusal(ctx context.Context, key Key) (Failure, error)
	// History gives what happened to a process before an instant, the newest of
	// each kind first.
	History(ctx context.Context, query HistoryQuery) (History, error)
}
