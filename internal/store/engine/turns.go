package engine

import (
	"container/heap"
	"time"
)

// batch is what a lane runs in one transaction.
type batch struct {
	kind  *Kind
	calls []*Call
	cost  int64
}

// take chooses whose turn it is, and lets others of the same kind come along.
// The queue is locked.
func (q *queue) take() *batch {
	kind, first := q.turn()
	if kind == nil {
		return nil
	}
	// It never goes back, even when the tenant who has least is a newcomer:
	// else who leaves and comes again would gain by it.
	q.given = max(q.given, first.given)
	b := &batch{kind: kind}
	weight := 0
	turns := q.turns(kind)
	for len(turns) > 0 && len(b.calls) < kind.most && weight < heaviestBatch {
		home := turns[0]
		c := home.waiting[kind].first
		// The others in the batch are not to wait while so much is sent.
		if c.Weight >= heavy && len(b.calls) > 0 {
			heap.Pop(&turns) // its turn comes, alone
			continue
		}
		home.waiting[kind].remove(c)
		q.unqueue(c)
		c.state, c.in = taken, b
		// It is paid when it is taken and not when it has ended, so that a
		// tenant whose work is slow does not get every lane meanwhile.
		home.given += c.cost
		weight += c.Weight
		b.cost += c.cost
		b.calls = append(b.calls, c)
		if c.Weight >= heavy {
			break
		}
		if home.waiting[kind].first == nil {
			heap.Pop(&turns)
		} else {
			heap.Fix(&turns, 0)
		}
	}
	kind.running++
	q.peak = max(q.inside, q.peak*7/8) // a crowd is soon forgotten
	q.pace.took(b.cost, q.count > 0, time.Now())
	if q.count > 0 {
		q.came.Signal() // there is something for another lane
	}
	return b
}

// turn finds the tenant who was given least, and which of its work waited for
// longest among what may run now.
func (q *queue) turn() (kind *Kind, least *tenant) {
	var head *Call
	for _, home := range q.tenant {
		for k, l := range home.waiting {
			if l.first == nil || k.running >= k.lanes {
				continue
			}
			if least == nil || home.given < least.given ||
				home.given == least.given && l.first.arrived.Before(head.arrived) {
				kind, least, head = k, home, l.first
			}
		}
	}
	return kind, least
}

// turns holds the tenants with work of one kind, who was given least first.
type turns []*tenant //nolint:recvcheck // container/heap wants it so

// turns gathers who has work of a kind. It is made anew for every batch,
// since what tenants were given changes between them; there are few tenants.
func (q *queue) turns(kind *Kind) turns {
	var t turns
	for _, home := range q.tenant {
		if l := home.waiting[kind]; l != nil && l.first != nil {
			t = append(t, home)
		}
	}
	heap.Init(&t)
	return t
}

// Len, Less, Swap, Push and Pop are what container/heap asks for.
func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].given < t[j].given }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push adds a tenant.
func (t *turns) Push(home any) { *t = append(*t, home.(*tenant)) } //nolint:forcetypeassert // only tenants are in it

// Pop takes the last one.
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
