package httpapi

import (
	"context"
	"slices"
	"sync"
	"time"

	"landfall"
)

// budget bounds the bytes of request bodies that are in memory at once. A body
// is paid for before it is read: by its declared length or, without one, by what
// it has grown to and is about to grow to. Reading first and counting later is
// how memory runs out.
//
// Small bodies have a purse of their own, so that big ones never keep them
// waiting. Within a purse no organisation may hold more than half while others
// wait, and who holds least is served first.
type budget struct {
	small, large purse
	patience     time.Duration
}

const (
	// smallBody is the largest body that pays from the small purse.
	smallBody = 64 << 10
	// bodyPatience is how long a caller waits for his bytes: longer would only
	// make everybody wait, and he may as well come back.
	bodyPatience = 2 * time.Second
	// longestQueue bounds the callers that wait for one purse.
	longestQueue = 1024
)

// newBudget divides the bytes: a quarter for small bodies, the rest for large
// ones, which must hold one of the largest at least.
func newBudget(total, largest int64) *budget {
	small := max(total/4, smallBody)
	return &budget{
		small: newPurse(small), large: newPurse(max(total-small, largest)), patience: bodyPatience,
	}
}

// loan is what one body was paid with.
type loan struct {
	of    *budget
	who   string
	size  int64
	repay []func()
}

// take pays for a body. It waits a little when there are no bytes, and then
// refuses.
func (b *budget) take(ctx context.Context, who string, size int64) (*loan, error) {
	l := &loan{of: b, who: who}
	return l, l.grow(ctx, size)
}

// grow pays for what a body of a size takes more than was paid already.
func (l *loan) grow(ctx context.Context, size int64) error {
	if size <= l.size && l.size > 0 {
		return nil
	}
	from := &l.of.large
	if size <= smallBody {
		from = &l.of.small
	}
	repay, err := l.of.pay(ctx, from, &claim{who: l.who, size: size - l.size, behind: l.size, paid: make(chan struct{})})
	if err != nil {
		return err
	}
	l.size = size
	l.repay = append(l.repay, repay)
	return nil
}

// end gives the bytes back.
func (l *loan) end() {
	for _, repay := range l.repay {
		repay()
	}
	l.repay = nil
}

// pay waits for a claim to be paid, and gives back the function that ends it.
func (b *budget) pay(ctx context.Context, from *purse, claim *claim) (func(), error) {
	if !from.enter(claim) {
		return nil, errCrowded
	}
	select {
	case <-claim.paid: // at once, as nearly always
		return func() { from.settle(claim) }, nil
	default:
	}
	waiting := time.NewTimer(b.patience)
	defer waiting.Stop()
	select {
	case <-claim.paid:
		return func() { from.settle(claim) }, nil
	case <-waiting.C:
	case <-ctx.Done():
	}
	// It may have been paid in this very moment; settle knows.
	from.settle(claim)
	return nil, errCrowded
}

// errCrowded is told to who would have waited too long.
var errCrowded = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: bodyPatience,
	Detail: "Too much is being sent to the service at once. Send the same request again shortly.",
}

// purse is a number of bytes and who holds how many of them.
type purse struct {
	mu    sync.Mutex
	size  int64
	spent int64
	held  map[string]int64
	queue []*claim // oldest first
}

// claim is one caller's wish for bytes.
type claim struct {
	who  string
	size int64
	// behind is what was paid for the same body before. Bodies that have grown
	// most are served first: if all of them waited for each other, none would end.
	behind int64
	paid   chan struct{} // closed when the bytes are his
}

// newPurse makes one that holds so many bytes.
func newPurse(size int64) purse { return purse{size: size, held: map[string]int64{}} }

// enter lets a caller in: paid at once when there is enough and nobody waits,
// else into the queue, unless that is too long.
func (p *purse) enter(c *claim) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) >= longestQueue {
		return false
	}
	p.queue = append(p.queue, c)
	p.pay()
	return true
}

// settle ends a claim, whether it was paid or not, and pays those that wait.
func (p *purse) settle(c *claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, c); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	} else {
		p.spent -= c.size
		if p.held[c.who] -= c.size; p.held[c.who] == 0 {
			delete(p.held, c.who)
		}
	}
	p.pay()
}

// pay serves bodies that have grown already, and then whoever holds least among
// those who wait, the oldest first, until the next one's bytes are not there. He is not passed over for a smaller one,
// or the largest bodies would never have their turn.
func (p *purse) pay() {
	for {
		next := -1
		for i, c := range p.queue {
			if !p.overShare(c) && (next < 0 || p.before(c, p.queue[next])) {
				next = i
			}
		}
		if next < 0 || p.spent+p.queue[next].size > p.size {
			return
		}
		c := p.queue[next]
		p.queue = slices.Delete(p.queue, next, next+1)
		p.spent += c.size
		p.held[c.who] += c.size
		close(c.paid)
	}
}

// before says whether a claim is paid before one that is older.
func (p *purse) before(c, older *claim) bool {
	if c.behind != older.behind {
		return c.behind > older.behind
	}
	return p.held[c.who] < p.held[older.who]
}

// overShare says whether a caller who holds something already, besides what this
// body has grown to, would hold more than half.
func (p *purse) overShare(c *claim) bool {
	held := p.held[c.who]
	return held > c.behind && held+c.size > p.size/2
}
