package engine

import (
	"os"
	"time"
)

// BatchSizes are the upper bounds of the classes in which batches are counted.
var BatchSizes = [...]int{1, 2, 4, 8, 16, 32, MaxBatch, maxLargeBatch}

// PoolStats says how the connections of a pool are used.
type PoolStats struct {
	Name  string // what they are for: write, read, list or settle
	Size  int
	InUse int
}

// Stats says what the engine is doing.
type Stats struct {
	Active  int   // calls that wait or run
	Refused int64 // calls that would have waited too long
	Batches [len(BatchSizes)]int64
	Calls   int64 // in all batches together
	Pools   []PoolStats
	Log     int64 // bytes of the write-ahead log beside a file
	// LastSuccess is when a call was last committed; zero when none was yet.
	LastSuccess time.Time
}

// Stats reads the stats, without asking the database.
func (db *DB) Stats() Stats {
	db.queue.lock.Lock()
	figures := Stats{
		Active: db.queue.active, Refused: db.queue.refused, Batches: db.queue.batches, Calls: db.queue.calls, LastSuccess: db.queue.lastSuccess,
	}
	db.queue.lock.Unlock()
	figures.Pools, figures.Log = db.backend.stats()
	return figures
}

// countBatch counts a batch that has ended. The queue is locked.
func (q *queue) countBatch(calls int) {
	class := 0
	for class < len(BatchSizes)-1 && calls > BatchSizes[class] {
		class++
	}
	q.batches[class]++
	q.calls += int64(calls)
}

func (m *postgresDB) stats() (pools []PoolStats, _ int64) {
	for name, p := range map[string]*pgPool{"write": m.writes, "read": m.reads, "settle": m.resolves} {
		pools = append(pools, PoolStats{Name: name, Size: cap(p.slots), InUse: len(p.slots)})
	}
	return pools, 0
}

func (e *sqliteDB) stats() (pools []PoolStats, log int64) {
	for name, r := range map[string]*readPool{"read": e.reads, "list": e.lists} {
		pools = append(pools, PoolStats{Name: name, Size: cap(r.conns), InUse: cap(r.conns) - len(r.conns)})
	}
	if info, err := os.Stat(e.file + "-wal"); err == nil {
		log = info.Size()
	}
	return pools, log
}
