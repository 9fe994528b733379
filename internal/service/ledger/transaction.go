package ledger

import (
	"fmt"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// TransactionPost is a batch of transactions to be added to an account.
type TransactionPost struct {
	Transactions []landfall.Transaction
	Today        calendar.Day // in the supplier's time zone: the last day of the open period
	Now          time.Time
	CheckAdded   bool // do not add a transaction whose id the account has
	ForceDates   bool // move dates into the open period instead of refusing them
}

// TransactionResult is the result for one posted transaction.
type TransactionResult struct {
	Transaction landfall.Transaction // as it is on the account
	Added       bool
	Sent        []byte // what was sent this time, if the account had it already
}

// RefusedError says which transaction of a batch cannot be added, and why.
type RefusedError struct {
	Index  int
	Code   string
	Field  string
	Detail string
}

// Error is for logs and contains no values; callers get the field and the
// detail.
func (r *RefusedError) Error() string {
	return fmt.Sprintf("transaction %d: %s", r.Index, r.Code)
}

// PostTransactions decides what a batch adds to an account: either all of it, or
// nothing and a *RefusedError for the first transaction that cannot be added.
func PostTransactions(account landfall.AccountState, post TransactionPost) ([]TransactionResult, landfall.Additions, error) {
	added := make(map[string]landfall.Transaction, len(account.Entries))
	for _, entry := range account.Entries {
		if _, twice := added[entry.Transaction.ID]; !twice {
			added[entry.Transaction.ID] = entry.Transaction
		}
	}
	if post.CheckAdded {
		if refusal := checkDuplicates(post.Transactions); refusal != nil {
			return nil, landfall.Additions{}, refusal
		}
	}
	book := &ledger{balance: account.Balance, sequence: account.LastSequence}
	results := make([]TransactionResult, 0, len(post.Transactions))
	var moved []landfall.Transaction
	for i, transaction := range post.Transactions {
		if earlier, there := added[transaction.ID]; there && post.CheckAdded {
			results = append(results, TransactionResult{Transaction: earlier, Sent: transaction.Document})
			continue
		}
		if inside := account.Period.Nearest(transaction.On, post.Today); inside != transaction.On {
			if !post.ForceDates {
				return nil, landfall.Additions{}, outsidePeriod(i)
			}
			transaction.OriginalOn, transaction.On = transaction.On, inside
			transaction.Note = explain(transaction)
			moved = append(moved, transaction)
		}
		before := book.balance
		book.enterAll([]landfall.Transaction{transaction}, false)
		// What reduces a balance that is too large already is welcome.
		if now := book.balance; now > maxBalance && now > before || now < -maxBalance && now < before {
			return nil, landfall.Additions{}, balanceTooLarge(i)
		}
		results = append(results, TransactionResult{Transaction: transaction, Added: true})
	}
	additions := landfall.Additions{Entries: book.entries}
	if len(moved) > 0 {
		additions.Notes, additions.OwnNotes = []landfall.Note{movedNote(moved, post.Now)}, 1
	}
	return results, additions, nil
}

// checkDuplicates refuses a batch that contains the same transaction twice: we cannot
// guess which of the two is meant.
func checkDuplicates(transactions []landfall.Transaction) error {
	seen := make(map[string]bool, len(transactions))
	for i, transaction := range transactions {
		if seen[transaction.ID] {
			return &RefusedError{
				Index: i, Code: landfall.CodeDuplicateTransactions, Field: "transaction_id",
				Detail: "An earlier transaction of this request has the same transaction_id.",
			}
		}
		seen[transaction.ID] = true
	}
	return nil
}

func outsidePeriod(index int) error {
	return &RefusedError{
		Index: index, Code: landfall.CodeOutsideOpenPeriod, Field: "transaction_date",
		Detail: "The transaction is not within the open statement period.",
	}
}

// maxBalance keeps balances far from the overflow of 64 bits.
const maxBalance = money.MaxSum

func balanceTooLarge(index int) error {
	return &RefusedError{
		Index: index, Code: rules.CodeOutOfRange, Field: "amount",
		Detail: "The account's balance would be too large.",
	}
}

// explain appends to a transaction's note why its date was changed.
func explain(transaction landfall.Transaction) string {
	explanation := fmt.Sprintf("Dated %s by the previous supplier; moved to %s to fall within the open statement period.",
		transaction.OriginalOn, transaction.On)
	if transaction.Note == "" {
		return explanation
	}
	return transaction.Note + "\n" + explanation
}

// namedInNote is how many moved transactions the note lists. Nobody would read a
// longer note, and each transaction has its own explanation.
const namedInNote = 50

// movedNote returns the pinned note about all transactions that a request moved.
func movedNote(moved []landfall.Transaction, now time.Time) landfall.Note {
	var body strings.Builder
	body.WriteString(landfall.MovedNoteStart)
	for i, transaction := range moved {
		if i == namedInNote {
			fmt.Fprintf(&body, "\nand %d more", len(moved)-i)
			break
		}
		fmt.Fprintf(&body, "\n%s from %s to %s", transaction.ID, transaction.OriginalOn, transaction.On)
	}
	return landfall.Note{Body: body.String(), HasBody: true, CreatedAt: now.UTC().Truncate(time.Second), Pinned: true}
}
