package crashtest_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/test/crashtest"
)

// load generates requests. The same seed generates the same requests; how they
// interleave depends on the machine.
type load struct {
	name   string
	seed   uint64
	asked  atomic.Int64 // number of requests; accounts come and go with it
	unique atomic.Int64
	resets atomic.Int64 // connections that were reset while a server stopped
	bulk   int          // extra bytes in every document
	width  int64        // accounts in use at a time; 0 means so few that callers collide
}

// newLoad returns a load whose account numbers share no prefix with another
// one's.
func newLoad(letter string, seed uint64) *load {
	return &load{name: fmt.Sprintf("%s%d", letter, seed%100000), seed: seed}
}

// text returns a unique text that is part of no other.
func (l *load) text(what string) string {
	return fmt.Sprintf("%s-%s-%07d.", what, l.name, l.unique.Add(1))
}

func (l *load) texts(what string, count int) []string {
	var list []string
	for range count {
		list = append(list, l.text(what))
	}
	return list
}

// ownDelivery stages every account of a load.
const ownDelivery = "own"

// bookDelivery stages the accounts of a book, which runs create.
const bookDelivery = "book"

// requestsPerAccount is the number of requests after which a new account replaces
// the oldest one in use.
const requestsPerAccount = 20

func (l *load) key(random *rand.Rand) landfall.Key {
	oldest := l.asked.Add(1) / requestsPerAccount
	return landfall.Key{Supplier: supplier, External: fmt.Sprintf("%s-%05d", l.name, oldest+random.Int64N(max(6, l.width)))}
}

// intent returns the next random request.
func (l *load) intent(random *rand.Rand) crashtest.Intent {
	intent := crashtest.Intent{Key: l.key(random)}
	draw := random.IntN(100)
	// Only its own delivery adds to every third account, so that it can be undone.
	if intent.Key.External[len(intent.Key.External)-1]%3 == 0 && draw >= 60 {
		if random.IntN(4) == 0 {
			intent.Verb = crashtest.Undo
			return intent
		}
		intent.Delivery, intent.Own = ownDelivery, true
	}
	switch {
	case draw < 33:
		return l.staging(intent.Key, random, outcomes[random.IntN(len(outcomes))])
	case draw < 48:
		intent.Verb = crashtest.Process
	case draw < 58:
		intent.Verb = crashtest.DryRun
	case draw < 60:
		// Operators' requests are rare, because each command is a process.
		intent.Verb = []crashtest.Verb{crashtest.Skip, crashtest.Skip, crashtest.Unskip, crashtest.Undo}[random.IntN(4)]
	case draw < 66:
		intent.Verb = crashtest.PostStatements
		intent.Statements = l.texts("statement", 1+random.IntN(3))
	case draw < 72:
		intent.Verb = crashtest.PostInstruction
		intent.Instructions = l.texts("instruction", 1)
	case draw < 84:
		intent.Verb = crashtest.PostNotes
		intent.Notes = l.texts("note", 1+random.IntN(4))
	default:
		intent.Verb = crashtest.PostTransactions
		intent.Unchecked = random.IntN(6) == 0
		for range 1 + random.IntN(5) {
			intent.Transactions = append(intent.Transactions, crashtest.Movement{
				ID: l.text("transaction"), Signed: randomAmount(random), Moved: !intent.Unchecked && random.IntN(5) == 0,
			})
		}
		// The last item of this batch lies outside the period and must not be
		// moved, so the whole batch must be refused.
		if !intent.Unchecked && random.IntN(5) == 0 {
			intent.Broken = true
			intent.Transactions[len(intent.Transactions)-1].Moved = true
		}
	}
	return intent
}

func randomAmount(random *rand.Rand) money.Amount {
	amount := 10 * money.Amount(1+random.Int64N(50000))
	if random.IntN(2) == 0 {
		return -amount
	}
	return amount
}

// outcome is the outcome that a staged account must have.
type outcome uint8

const (
	creatable     outcome = iota // it can be created
	unprocessable                // it names an instruction that its vendor does not know: attempts fail
	invalid                      // it breaks a rule, so it cannot be staged
)

// outcomes has each outcome as often as it should occur.
var outcomes = []outcome{creatable, creatable, creatable, creatable, creatable, creatable, creatable, creatable, creatable, unprocessable, unprocessable, invalid}

// staging generates an account with at least one of everything.
func (l *load) staging(key landfall.Key, random *rand.Rand, wanted outcome) crashtest.Intent {
	intent := crashtest.Intent{Verb: crashtest.Stage, Key: key, Name: l.text("name"), Customers: 1 + random.IntN(3), Delivery: ownDelivery}
	customers := make([]map[string]any, intent.Customers)
	for i := range customers {
		customers[i] = map[string]any{"given_name": "Ada", "family_name": "Byron", "email": fmt.Sprintf("c%d@landfall.dev", i)}
	}
	intent.Notes = l.texts("inline-note", random.IntN(3))
	intent.Statements = l.texts("inline-statement", random.IntN(2))
	intent.Instructions = l.texts("inline-instruction", random.IntN(2))
	balance := "-12.34"
	switch wanted {
	case unprocessable:
		intent.Doomed = true
		intent.Instructions = append(intent.Instructions, l.text("not-found"))
	case invalid:
		intent.Broken, balance = true, "-12.345"
	case creatable:
	}
	for range random.IntN(3) {
		intent.Transactions = append(intent.Transactions, crashtest.Movement{ID: l.text("inline-transaction"), Signed: randomAmount(random)})
	}
	// Random bytes do not compress.
	filler := make([]byte, l.bulk/2)
	for i := range filler {
		filler[i] = byte(random.Uint32())
	}
	document, err := json.Marshal(map[string]any{
		"metadata":        []any{map[string]any{"key": "filler", "value": hex.EncodeToString(filler)}},
		"import_supplier": key.Supplier, "external_account_number": key.External,
		"billing_name": intent.Name, "customers": customers,
		"last_statement_closing_date": day(-10), "last_statement_balance": balance,
		"notes": noteItems(intent.Notes), "current_statement_transactions": transactions(intent.Transactions),
		"statements": statementItems(intent.Statements), "payment_instructions": instructions(intent.Instructions),
	})
	if err != nil {
		panic(err)
	}
	intent.Document = string(document)
	return intent
}

func day(offset int) string { return time.Now().AddDate(0, 0, offset).Format(time.DateOnly) }

func noteItems(bodies []string) []map[string]any {
	list := make([]map[string]any, len(bodies))
	for i, body := range bodies {
		list[i] = map[string]any{"body": body}
	}
	return list
}

func statementItems(ids []string) []map[string]any {
	list := make([]map[string]any, len(ids))
	for i, id := range ids {
		list[i] = map[string]any{"statement_id": id, "bill_period_from_date": "2025-01-01", "bill_period_to_date": "2025-01-31"}
	}
	return list
}

func instructions(references []string) []map[string]any {
	list := make([]map[string]any, len(references))
	for i, reference := range references {
		list[i] = map[string]any{"vendor": vendor, "reference": reference, "type": "CARD"}
	}
	return list
}

func transactions(movements []crashtest.Movement) []map[string]any {
	list := make([]map[string]any, len(movements))
	for i, movement := range movements {
		amount, kind, on := movement.Signed, "CREDIT", day(-5)
		if amount < 0 {
			amount, kind = -amount, "CHARGE"
		}
		if movement.Moved {
			on = "2020-02-02"
		}
		list[i] = map[string]any{
			"transaction_id": movement.ID, "transaction_date": on, "type": kind, "reason": "IMPORTED_" + kind,
			"amount": json.Number(fmt.Sprintf("%d.%02d", amount/1000, amount%1000/10)),
		}
	}
	return list
}

// run starts callers that work until stop is closed.
func (l *load) run(c *caller, callers int, stop <-chan struct{}) *sync.WaitGroup {
	var working sync.WaitGroup
	for worker := range callers {
		working.Go(func() {
			random := rand.New(rand.NewPCG(l.seed, uint64(worker)))
			for c.t.Context().Err() == nil {
				select {
				case <-stop:
					return
				default:
				}
				intent := l.intent(random)
				// Sometimes two callers send the same request at the same time.
				if random.IntN(10) == 0 {
					base := c.pick(random)
					working.Go(func() { c.send(base, intent) })
				}
				l.ask(c, random, intent)
			}
		})
	}
	return &working
}

// ask sends an intent. A caller that gets no response repeats the request
// unchanged on any replica, as the API promises to allow. Some give up, and
// some repeat requests that were confirmed.
func (l *load) ask(c *caller, random *rand.Rand, intent crashtest.Intent) {
	for range 4 {
		answer, err := c.send(c.pick(random), intent)
		gotResponse := err == nil && answer.Status < http.StatusInternalServerError
		if gotResponse && random.IntN(8) > 0 || !gotResponse && random.IntN(5) == 0 {
			return
		}
		if !gotResponse {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
