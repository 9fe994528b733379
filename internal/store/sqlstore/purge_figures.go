package sqlstore

import (
	"sync"
	"time"

	"landfall"
)

// purgeFigures counts what goes while a server purges.
type purgeFigures struct {
	mu  sync.Mutex
	sum landfall.PurgeFigures
}

func (f *purgeFigures) count(gone landfall.PurgeCounts, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sum.Removed.Add(gone)
	f.sum.Steps++
	f.sum.Took += took
	f.sum.Longest = max(f.sum.Longest, took)
}

// PurgeFigures says what this server has purged by itself.
func (s *Store) PurgeFigures() landfall.PurgeFigures {
	s.purged.mu.Lock()
	defer s.purged.mu.Unlock()
	return s.purged.sum
}
