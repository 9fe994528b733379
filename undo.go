package landfall

import (
	"context"
	"time"

	"landfall/internal/lib/money"
)

// UndoRequest asks to undo the creation of an account, so that it is only staged
// again.
type UndoRequest struct {
	Key    Key
	Reason string
	Run    string // only an account that was created in this run; "" means any
	// TakenBack says that the account was deleted at its target after HoldDeliveries.
	TakenBack bool

	// AllPostings also undoes an account with postings of other deliveries. Saved
	// is how many postings of the account the caller has saved before; if it has
	// others, nothing is done.
	AllPostings bool
	Saved       int

	Actor, Source, RequestID string // for the audit
}

// UndoVerdict is the result of an UndoRequest.
type UndoVerdict uint8

// The verdicts. Only Undone changes anything.
const (
	Undone        UndoVerdict = iota + 1
	UndoKept                  // it can no longer be undone
	UndoNoAccount             // no account is imported with the key or in the run
	UndoUnsaved               // with AllPostings: it has another number of postings than were saved
)

// KeptReason is why an account can no longer be undone.
type KeptReason string

// The reasons. When several apply, the first one is reported.
const (
	KeptWindowOver    KeptReason = CodeWindowOver    // it was created too long ago
	KeptHasPostings   KeptReason = CodeHasPostings   // something was added to it that did not come with its delivery
	KeptCustomersTold KeptReason = CodeCustomersTold // a mail about it was sent, or is being sent
	KeptErased        KeptReason = CodeErased        // there is nothing left to stage it from
	KeptDamaged       KeptReason = CodeRecordDamaged // the document it would be created from again is damaged or missing
	KeptDelivered     KeptReason = CodeDelivered     // it was delivered to a target, or may have been
)

// KeptReasons lists the reasons in the order they are checked.
var KeptReasons = []KeptReason{KeptWindowOver, KeptHasPostings, KeptErased, KeptDamaged, KeptCustomersTold, KeptDelivered}

// UndoOutcome is the answer to one UndoRequest.
type UndoOutcome struct {
	Verdict UndoVerdict
	Number  string     // of the account that was undone or kept
	At      time.Time  // when it was undone
	Kept    KeptReason // with UndoKept
}

// UndoContent is what is removed with accounts that are undone.
type UndoContent struct {
	Entries, Notes, Statements, Instructions int
	Postings                                 int                     // the requests that added some of it
	Balances                                 map[string]money.Amount // by currency
}

// KeptAccount is an account that an undo would keep.
type KeptAccount struct {
	Key           Key
	Number        string
	Reason        KeptReason
	OtherPostings int // that did not come with its delivery
}

// UndoForecast is what an undo would do now, counted account by account.
type UndoForecast struct {
	Undoable      int                // would be undone
	Removed       UndoContent        // what they contain
	Kept          map[KeptReason]int // would be kept, by reason
	KeptAccounts  []KeptAccount      // each of them; only in the answer to one query
	AlreadyUndone int                // were undone before
}

// UndoForecastQuery selects accounts: either one by its key, or those that a run
// created among at most Limit of its members, starting with member From, counted
// from 0.
type UndoForecastQuery struct {
	Key         Key
	Run         string
	From, Limit int
	AllPostings bool // as in UndoRequest
}

// Plus returns the sum of two parts of a run and changes neither. It drops the
// list of kept accounts, which may be long.
func (f UndoForecast) Plus(part UndoForecast) UndoForecast {
	return UndoForecast{
		Undoable: f.Undoable + part.Undoable, AlreadyUndone: f.AlreadyUndone + part.AlreadyUndone, Kept: sumByKey(f.Kept, part.Kept),
		Removed: UndoContent{
			Entries: f.Removed.Entries + part.Removed.Entries, Notes: f.Removed.Notes + part.Removed.Notes,
			Statements: f.Removed.Statements + part.Removed.Statements, Instructions: f.Removed.Instructions + part.Removed.Instructions,
			Postings: f.Removed.Postings + part.Removed.Postings, Balances: sumByKey(f.Removed.Balances, part.Removed.Balances),
		},
	}
}

func sumByKey[K comparable, V int | money.Amount](parts ...map[K]V) map[K]V {
	sums := map[K]V{}
	for _, part := range parts {
		for key, value := range part {
			sums[key] += value
		}
	}
	return sums
}

// AllKept is how many accounts would be kept for any reason.
func (f UndoForecast) AllKept() (all int) {
	for _, count := range f.Kept {
		all += count
	}
	return all
}

// UndoneAccount is what remains of an account that was undone: its number, which
// it has again when it is created again, and who undid it and why.
type UndoneAccount struct {
	Key       Key
	Number    string
	CreatedAt time.Time
	UndoneAt  time.Time
	Actor     string
	Reason    string
	Run       string // in which it had been created, "" for none
}

// UndoReader reads what was undone and what could be.
type UndoReader interface {
	// UndoneAccount returns the account with a number that was undone last, or
	// ErrNotFound.
	UndoneAccount(ctx context.Context, number string) (UndoneAccount, error)
	// UndoneAccounts returns the undone accounts of a process, oldest first.
	UndoneAccounts(ctx context.Context, key Key) ([]UndoneAccount, error)
	// UndoneOf returns how often an account of a supplier was undone.
	UndoneOf(ctx context.Context, supplier string) (int, error)
	// UndoneInRun returns how many of the accounts that a run created were undone.
	UndoneInRun(ctx context.Context, run string) (int, error)
	// UndoForecast returns what Undo would answer now for the accounts of a query.
	// After the last member of a run, and without an account, it counts nothing.
	UndoForecast(ctx context.Context, query UndoForecastQuery) (UndoForecast, error)
	// Postings calls each for everything that was posted to an account since it was
	// created, one kind after the other and oldest first. It leaves out what the
	// service added by itself. The account is ErrNotFound when there is none. An
	// error of each is returned unchanged.
	Postings(ctx context.Context, key Key, each func(PostedItem) error) (PostedAccount, error)
	// UndoFigures returns how many accounts were ever undone, and how often one was
	// kept for each reason.
	UndoFigures(ctx context.Context) (undone int, kept map[KeptReason]int, err error)
}

// PostedAccount is an account whose postings were read.
type PostedAccount struct {
	Key       Key
	CreatedAt time.Time // tells it from an account that is created after an undo
	Postings  int       // the requests that added something
}

// PostedItem is one item that was posted to an account. Only the field of its kind
// is set.
type PostedItem struct {
	Kind        PostingKind
	Delivery    string // that it came with; "" for none
	Note        *Note
	Transaction *Transaction
	Statement   *Statement
	Instruction *Instruction
}
