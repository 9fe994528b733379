package bulk

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"landfall/internal/lib/limits"
)

// Spool says where answers wait that cannot be sent yet, because a caller sends
// all its lines before it reads anything.
type Spool struct {
	// Folder holds the files; "" is the system's place for such.
	Dir string
	// Most is how many bytes of all requests are kept in files at once.
	MaxBytes int64
}

const (
	// maxMemory is how much of the answer of one request waits in memory.
	maxMemory = 1 << 20
	// spoolTimeout is how long a full spool waits for a caller that takes
	// nothing.
	spoolTimeout = limits.BulkSpoolWait
)

// errSpoolFull means that a caller takes nothing and no more can be kept.
var errSpoolFull = errors.New("the answers that nobody reads are too many")

// disk counts what the spools of all requests have in files.
type disk struct {
	Spool
	used atomic.Int64
}

// newDisk begins to count for a service.
func newDisk(spool Spool) *disk { return &disk{Spool: spool} }

// Spooled says how many bytes of answers are on disk because nobody has read
// them yet.
func (s *Service) Spooled() int64 { return s.disk.used.Load() }

// reserve takes room for some bytes, if there is.
func (d *disk) reserve(bytes int64) bool {
	if d.used.Add(bytes) <= d.MaxBytes {
		return true
	}
	d.used.Add(-bytes)
	return false
}

// spool is a queue of bytes between whoever answers and whoever sends: a little
// in memory and the rest in a file that has no name, so that nothing is left of
// it however the program ends, and that is encrypted with a key nobody else has:
// answers repeat what was wrong with what was sent.
type spool struct {
	disk    *disk
	timeout time.Duration

	mu       sync.Mutex
	changed  *sync.Cond
	memory   []byte // older than the file
	file     *os.File
	key      cipher.Block // of the file
	read     int64        // of the file
	written  int64
	reserved int64
	taken    int64 // bytes that were given out, ever
	ended    bool  // nothing more comes
	dropped  bool  // nobody takes anything more
}

// newSpool makes an empty one; its file comes with the first bytes that do
// not fit into memory.
func newSpool(disk *disk) *spool {
	s := &spool{disk: disk, timeout: spoolTimeout}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// put appends bytes. When there is no room it waits for some to be taken, and
// fails when for a while nothing is. Forced bytes are kept in memory at worst.
func (s *spool) put(bytes []byte, forced bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	waited, taken := time.Time{}, s.taken
	for !s.dropped {
		switch {
		// Memory is filled only while there is no file: what is in it is older
		// than the file, and order is what a spool is for. A piece that is
		// larger than all of it goes in alone.
		case s.file == nil && (len(s.memory)+len(bytes) <= maxMemory || len(s.memory) == 0 || forced):
			s.memory = append(s.memory, bytes...)
			s.changed.Broadcast()
			return nil
		case s.spill(bytes) || forced && s.spillAnyway(bytes):
			s.changed.Broadcast()
			return nil
		}
		// As long as something is taken, however slowly, the caller is alive.
		if waited.IsZero() || s.taken != taken {
			waited, taken = time.Now(), s.taken
		}
		left := s.timeout - time.Since(waited)
		if left <= 0 {
			return errSpoolFull
		}
		wake := time.AfterFunc(left, s.wake)
		s.changed.Wait()
		wake.Stop()
	}
	return nil // there is nobody to answer
}

// spill appends bytes to the file, if there is room for them. A disk that takes
// none is as if it were full.
func (s *spool) spill(bytes []byte) bool {
	size := int64(len(bytes))
	if !s.disk.reserve(size) {
		return false
	}
	s.reserved += size
	if s.spillAnyway(bytes) {
		return true
	}
	s.reserved -= size
	s.disk.used.Add(-size)
	return false
}

// spillAnyway appends bytes whether they were reserved or not: the last line
// of an answer must get out.
func (s *spool) spillAnyway(bytes []byte) bool {
	if s.file == nil {
		file, err := os.CreateTemp(s.disk.Dir, "landfall-bulk-*")
		if err != nil {
			return false
		}
		if err := os.Remove(file.Name()); err != nil {
			_ = file.Close()
			return false
		}
		s.file, s.key = file, newKey()
	}
	if _, err := s.file.WriteAt(s.crypt(append([]byte(nil), bytes...), s.written), s.written); err != nil {
		return false
	}
	s.written += int64(len(bytes))
	return true
}

func newKey() cipher.Block {
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	return block
}

// crypt encrypts or decrypts bytes at a place of the file.
func (s *spool) crypt(bytes []byte, place int64) []byte {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(place/aes.BlockSize)) //nolint:gosec // no place is negative
	stream := cipher.NewCTR(s.key, counter[:])
	skipped := make([]byte, place%aes.BlockSize)
	stream.XORKeyStream(skipped, skipped)
	stream.XORKeyStream(bytes, bytes)
	return bytes
}

// take waits for bytes and moves as many as fit. None means that there will be
// no more.
func (s *spool) take(into []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.dropped:
			return 0, nil
		case len(s.memory) > 0:
			n := copy(into, s.memory)
			if s.memory = s.memory[n:]; len(s.memory) == 0 {
				s.memory = nil
			}
			s.note(n)
			return n, nil
		case s.read < s.written:
			n, err := s.file.ReadAt(into[:min(int64(len(into)), s.written-s.read)], s.read)
			if err != nil {
				return 0, err
			}
			s.crypt(into[:n], s.read)
			if s.read += int64(n); s.read == s.written {
				s.release()
			}
			s.note(n)
			return n, nil
		case s.ended:
			return 0, nil
		}
		s.changed.Wait()
	}
}

// wake lets whoever waits look again. It comes in turn: between a look and the
// wait that follows it nobody would hear it.
func (s *spool) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// note wakes whoever waits for room.
func (s *spool) note(n int) {
	s.taken += int64(n)
	s.changed.Broadcast()
}

// release gives up a file from which everything was read.
func (s *spool) release() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	s.disk.used.Add(-s.reserved)
	s.file, s.read, s.written, s.reserved = nil, 0, 0, 0
}

// empty says whether nothing waits to be taken.
func (s *spool) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.memory) == 0 && s.read == s.written
}

// end says that nothing more comes.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

// drop says that nobody takes anything any more.
func (s *spool) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	s.changed.Broadcast()
}

// close gives back everything.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	s.memory, s.dropped = nil, true
}
