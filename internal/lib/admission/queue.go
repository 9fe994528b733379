package admission

// Accounts records how much each tenant was served, counted from a common
// start, while it has requests that wait or run. The zero value is ready to
// use. Like Queue, it needs external locking.
type Accounts struct {
	byTenant map[string]*Account
	// now is what the tenant served last had been served before. It never
	// decreases, so a tenant gains nothing by leaving and coming back.
	now      int64
	sequence uint64 // of the request that came last
	spare    *Account
}

// Account is the account of one tenant.
type Account struct {
	Tenant string
	// Waiting is the cost of the requests that wait. The caller maintains it,
	// because requests may wait outside of a Queue.
	Waiting int64

	served int64
	open   int   // requests that wait or run
	held   int64 // of a Limiter's capacity
}

// Open finds the account for one more request of a tenant. A tenant that was
// idle starts where the others are: it accumulates no credit.
func (a *Accounts) Open(tenant string) *Account {
	account := a.byTenant[tenant]
	if account == nil {
		if a.byTenant == nil {
			a.byTenant = map[string]*Account{}
		}
		if account = a.spare; account == nil {
			account = &Account{}
		}
		a.spare = nil
		*account = Account{Tenant: tenant, served: a.now}
		a.byTenant[tenant] = account
	}
	account.open++
	return account
}

// Close ends a request of an account. The last one removes the account.
func (a *Accounts) Close(account *Account) {
	if account.open--; account.open == 0 {
		delete(a.byTenant, account.Tenant)
		a.spare = account
	}
}

// Charge counts what a tenant was served.
func (a *Accounts) Charge(account *Account, cost int64) {
	a.now = max(a.now, account.served)
	account.served += cost
}

// Find returns a tenant's account, or nil.
func (a *Accounts) Find(tenant string) *Account { return a.byTenant[tenant] }

// Len is the number of tenants with requests.
func (a *Accounts) Len() int { return len(a.byTenant) }

// Ahead estimates what is served before one more request of a tenant:
// everything of this tenant that already waits and, because tenants take turns,
// up to as much of every other tenant.
func (a *Accounts) Ahead(account *Account, cost int64) int64 {
	ahead, own := account.Waiting, account.Waiting+cost
	for _, other := range a.byTenant {
		if other != account {
			ahead += min(other.Waiting, own)
		}
	}
	return ahead
}

// Item is a request in a Queue. Callers embed it in their own type.
type Item[T any] struct {
	Value    T
	Account  *Account
	Cost     int64
	Priority int64 // higher ones go first, whatever their tenant

	sequence uint64
	position int // in its line's heap, counted from 1; 0: not queued
}

// Queued reports whether the item is in a Queue.
func (i *Item[T]) Queued() bool { return i.position > 0 }

// Before reports whether an item of one Queue is served before that of another
// over the same Accounts.
func (i *Item[T]) Before(other *Item[T]) bool {
	switch {
	case i.Priority != other.Priority:
		return i.Priority > other.Priority
	case i.Account.served != other.Account.served:
		return i.Account.served < other.Account.served
	}
	return i.sequence < other.sequence
}

func (i *Item[T]) before(other *Item[T]) bool {
	if i.Priority != other.Priority {
		return i.Priority > other.Priority
	}
	return i.sequence < other.sequence
}

func (i *Item[T]) moved(position int) { i.position = position }

// Queue orders requests. The next one is the one with the highest priority,
// then that of the tenant that holds least of a Limiter, then that of the
// tenant that was served least, then the oldest. Several queues may share
// Accounts.
type Queue[T any] struct {
	accounts *Accounts
	lines    map[*Account]*line[T]
	order    heap[*line[T]] // the lines that are not paused
	count    int
	spare    *line[T]
}

// line is the waiting requests of one tenant.
type line[T any] struct {
	account  *Account
	items    heap[*Item[T]]
	held     int64 // of the account, when the line was last put in order
	served   int64 // likewise
	position int   // in the queue's order, counted from 1; 0: paused
}

func (l *line[T]) before(other *line[T]) bool {
	first, theirs := l.items[0], other.items[0]
	switch {
	case first.Priority != theirs.Priority:
		return first.Priority > theirs.Priority
	case l.held != other.held:
		return l.held < other.held
	case l.served != other.served:
		return l.served < other.served
	}
	return first.sequence < theirs.sequence
}

func (l *line[T]) moved(position int) { l.position = position }

// NewQueue returns an empty queue over accounts.
func NewQueue[T any](accounts *Accounts) *Queue[T] {
	return &Queue[T]{accounts: accounts, lines: map[*Account]*line[T]{}}
}

// Len is the number of requests in the queue.
func (q *Queue[T]) Len() int { return q.count }

// Waiting is the number of a tenant's requests in the queue.
func (q *Queue[T]) Waiting(account *Account) int {
	if found := q.lines[account]; found != nil {
		return len(found.items)
	}
	return 0
}

// Push puts a request into the queue. A request that was in a queue before
// keeps its place in the order of age.
func (q *Queue[T]) Push(item *Item[T]) {
	if item.sequence == 0 {
		q.accounts.sequence++
		item.sequence = q.accounts.sequence
	}
	q.count++
	own := q.lines[item.Account]
	if own != nil {
		if own.items.push(item); own.position > 0 && item.position == 1 {
			q.order.fix(own.position)
		}
		return
	}
	if own = q.spare; own == nil {
		own = &line[T]{}
	}
	q.spare = nil
	own.account, own.held, own.served = item.Account, item.Account.held, item.Account.served
	own.items.push(item)
	q.lines[item.Account] = own
	q.order.push(own)
}

// Remove removes a request from the queue, wherever it is.
func (q *Queue[T]) Remove(item *Item[T]) {
	own := q.lines[item.Account]
	first := item.position == 1
	own.items.remove(item.position)
	q.count--
	switch {
	case len(own.items) == 0:
		if own.position > 0 {
			q.order.remove(own.position)
		}
		delete(q.lines, item.Account)
		own.account, q.spare = nil, own
	case first && own.position > 0:
		q.order.fix(own.position)
	}
}

// First returns the next request of a tenant, or nil.
func (q *Queue[T]) First(account *Account) *Item[T] {
	if found := q.lines[account]; found != nil {
		return found.items[0]
	}
	return nil
}

// Head returns the next request, or nil. It ignores paused tenants.
func (q *Queue[T]) Head() *Item[T] {
	for len(q.order) > 0 {
		first := q.order[0]
		if first.served == first.account.served {
			return first.items[0]
		}
		// The tenant was served since, perhaps from another queue. The served
		// amount only grows, so a line that is out of order is too far in front and
		// found here.
		first.served = first.account.served
		q.order.fix(1)
	}
	return nil
}

// Pause removes a waiting tenant from the order, or returns it to its position.
func (q *Queue[T]) Pause(account *Account, paused bool) {
	own := q.lines[account]
	if own == nil {
		return
	}
	own.held, own.served = account.held, account.served
	switch {
	case paused && own.position > 0:
		q.order.remove(own.position)
	case !paused && own.position == 0:
		q.order.push(own)
	case !paused:
		q.order.fix(own.position)
	}
}
