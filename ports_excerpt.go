package landfall

import "context"

// ExcerptReader reads what may be long a page at a time, whatever its size.
type ExcerptReader interface {
	// AccountExcerpt gives the account of a process with pages of its long
	// lists, or ErrNotFound. It costs what it gives, however long the lists are.
	AccountExcerpt(ctx context.Context, key Key, excerpt Excerpt) (AccountExcerpt, error)
	// KeyOfNumber gives the key of the account that has a number, or ErrNotFound.
	KeyOfNumber(ctx context.Context, number string) (Key, error)
	// Revision gives one staging with its document, unless that is gone, or
	// ErrNotFound. A document that is not the one that was staged is an error.
	Revision(ctx context.Context, key Key, revision int) (StagedRevision, error)
	// Refused gives why the last staging of an account was refused, while nothing
	// was staged since, or ErrNotFound.
	Refused(ctx context.Context, key Key) (Failure, error)
	// History gives what happened to a process before an instant, the newest of
	// each kind first.
	History(ctx context.Context, query HistoryQuery) (History, error)
}
