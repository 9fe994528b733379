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

// Spool configures where results wait that cannot be sent yet, because a client
// sends all its lines before it reads anything.
type Spool struct {
	// Dir is the directory of the files; "": the system's temporary directory.
	Dir string
	// MaxBytes limits the bytes in the files of all requests together.
	MaxBytes int64
}

const (
	// spoolTimeout is how long a full spool waits for a client that reads
	// nothing.
	spoolTimeout = limits.BulkSpoolWait
)

// errSpoolFull means that the client reads nothing and there is no more room.
var errSpoolFull = errors.New("too many results wait to be read")

// spoolDisk counts the bytes in the files of all spools.
type spoolDisk struct {
	Spool
	used atomic.Int64
}

// newSpoolDisk returns the counter of a service.
func newSpoolDisk(options Spool) *spoolDisk { return &spoolDisk{Spool: options} }

// Spooled returns how many bytes of results are on disk because they were not
// read yet.
func (s *Service) Spooled() int64 { return s.disk.used.Load() }

// reserve reserves room for some bytes, if there is enough.
func (d *spoolDisk) reserve(bytes int64) bool {
	if d.used.Add(bytes) <= d.MaxBytes {
		return true
	}
	d.used.Add(-bytes)
	return false
}

// spool is a queue of bytes between collect and send. The first bytes are in
// memory and the rest in a file. The file has no name, so nothing is left of it
// however the program ends. It is encrypted with a key that exists only in
// memory, because results repeat what was wrong with the data.
type spool struct {
	disk    *spoolDisk
	timeout time.Duration

	mu       sync.Mutex
	changed  *sync.Cond
	memory   []byte // older than the file
	file     *os.File
	key      cipher.Block // of the file
	read     int64        // of the file
	written  int64
	reserved int64
	taken    int64 // bytes taken in total
	ended    bool  // nothing more will be put
	dropped  bool  // nothing more will be taken
}

// newSpool returns an empty spool. Its file is created for the first bytes that
// do not fit into memory.
func newSpool(disk *spoolDisk) *spool {
	s := &spool{disk: disk, timeout: spoolTimeout}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// put appends bytes. If there is no room it waits until some are taken, and
// fails if none are taken for a while. Forced bytes are always stored, in
// memory if necessary.
func (s *spool) put(bytes []byte, forced bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	waited, taken := time.Time{}, s.taken
	for !s.dropped {
		switch {
		// Memory is used only while there is no file: memory is read first, so
		// newer bytes in it would overtake the file. A piece larger than limits.BulkResults
		// is put into empty memory.
		case s.file == nil && (len(s.memory)+len(bytes) <= limits.BulkResults || len(s.memory) == 0 || forced):
			s.memory = append(s.memory, bytes...)
			s.changed.Broadcast()
			return nil
		case s.spill(bytes) || forced && s.spillAnyway(bytes):
			s.changed.Broadcast()
			return nil
		}
		// As long as the client reads something, however slowly, it is alive.
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
	return nil // the client is gone
}

// spill appends bytes to the file, if there is room. A disk that cannot be
// written counts as full.
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

// spillAnyway appends bytes whether or not room was reserved: the last line of
// a response must be sent.
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
		panic(err) // impossible: 32 bytes are a valid key
	}
	return block
}

// crypt encrypts or decrypts bytes at a position in the file.
func (s *spool) crypt(bytes []byte, offset int64) []byte {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(offset/aes.BlockSize)) //nolint:gosec // offsets are not negative
	keystream := cipher.NewCTR(s.key, counter[:])
	skipped := make([]byte, offset%aes.BlockSize)
	keystream.XORKeyStream(skipped, skipped)
	keystream.XORKeyStream(bytes, bytes)
	return bytes
}

// take waits for bytes and moves as many as fit. It returns 0 when there will
// be no more.
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

// wake wakes all waiters. It takes the lock so that the broadcast cannot fall
// between a waiter's check and its wait.
func (s *spool) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// note counts bytes that were taken and wakes the writer that waits for room.
func (s *spool) note(n int) {
	s.taken += int64(n)
	s.changed.Broadcast()
}

// release closes the file after everything was read from it.
func (s *spool) release() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	s.disk.used.Add(-s.reserved)
	s.file, s.read, s.written, s.reserved = nil, 0, 0, 0
}

// empty reports whether nothing waits to be taken.
func (s *spool) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.memory) == 0 && s.read == s.written
}

// end records that nothing more will be put.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

// drop records that nothing more will be taken.
func (s *spool) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	s.changed.Broadcast()
}

// close releases everything.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	s.memory, s.dropped = nil, true
}
