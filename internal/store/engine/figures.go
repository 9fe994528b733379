package engine

import "os"

// BatchSizes are the classes in which batches are counted: up to so many calls.
var BatchSizes = [...]int{1, 2, 4, 8, 16, 32, LongestBatch, longestMany}

// PoolFigures is how a number of connections is used.
type PoolFigures struct {
	Name  string // what they are for: write, read, list or settle
	Size  int
	InUse int
}

// Figures is what the machine is doing, for those who watch it.
type Figures struct {
	Inside  int   // calls that wait for their turn or are being run
	Refused int64 // calls that were refused because they would have waited too long
	Batches [len(BatchSizes)]int64
	Calls   int64 // in all batches together
	Pools   []PoolFigures
	Log     int64 // bytes of the write-ahead log beside a file
}

// Figures reads them. It asks no database.
func (db *DB) Figures() Figures {
	db.queue.lock.Lock()
	figures := Figures{
		Inside: db.queue.inside, Refused: db.queue.refused, Batches: db.queue.batches, Calls: db.queue.calls,
	}
	db.queue.lock.Unlock()
	figures.Pools, figures.Log = db.machine.figures()
	return figures
}

// counted notes a batch that has ended, under the queue's lock.
func (q *queue) counted(calls int) {
	class := 0
	for class < len(BatchSizes)-1 && calls > BatchSizes[class] {
		class++
	}
	q.batches[class]++
	q.calls += int64(calls)
}

func (m *postgres) figures() (pools []PoolFigures, _ int64) {
	for name, p := range map[string]*pool{"write": m.writes, "read": m.reads, "settle": m.settles} {
		pools = append(pools, PoolFigures{Name: name, Size: cap(p.slots), InUse: len(p.slots)})
	}
	return pools, 0
}

func (e *embeddedFile) figures() (pools []PoolFigures, log int64) {
	for name, r := range map[string]*readers{"read": e.short, "list": e.long} {
		pools = append(pools, PoolFigures{Name: name, Size: cap(r.slots), InUse: cap(r.slots) - len(r.slots)})
	}
	if info, err := os.Stat(e.file + "-wal"); err == nil {
		log = info.Size()
	}
	return pools, log
}
