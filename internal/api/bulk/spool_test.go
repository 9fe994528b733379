package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"landfall/internal/lib/limits"
)

// Bytes come out in the order they went in, through memory and files, whatever
// the timing of both sides.
func TestSpoolKeepsOrder(t *testing.T) {
	disk := newSpoolDisk(Spool{Dir: t.TempDir(), MaxBytes: 1 << 40})
	s := newSpool(disk)
	defer s.close()
	var want bytes.Buffer
	for i := range 40_000 {
		fmt.Fprintf(&want, "answer %d of many, which is a little longer than it need be to fill the memory\n", i)
	}
	go func() {
		rest := want.Bytes()
		for len(rest) > 0 {
			n := min(len(rest), 1+rand.IntN(100_000))
			if err := s.put(rest[:n], false); err != nil {
				t.Error(err)
			}
			rest = rest[n:]
		}
		s.end()
	}()
	var got bytes.Buffer
	piece := make([]byte, 10_000)
	for {
		if rand.IntN(50) == 0 {
			time.Sleep(3 * time.Millisecond)
		}
		n, err := s.take(piece)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		got.Write(piece[:n])
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes became %d", want.Len(), got.Len())
	}
	if left := disk.used.Load(); left != 0 {
		t.Errorf("%d bytes are still counted", left)
	}
}

// The file on disk does not reveal the results.
func TestSpoolIsUnreadable(t *testing.T) {
	s := newSpool(newSpoolDisk(Spool{Dir: t.TempDir(), MaxBytes: 1 << 40}))
	defer s.close()
	for range 2 * limits.BulkResults / 1000 {
		if err := s.put(bytes.Repeat([]byte("Kanarienvogel"), 100), false); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil {
		t.Fatal("this test would find nothing")
	}
	kept := make([]byte, s.written)
	if _, err := s.file.ReadAt(kept, 0); err != nil || bytes.Contains(kept, []byte("Kanari")) {
		t.Errorf("the file can be read: %v", err)
	}
}

// The file has no name, so that nothing is left of it whatever happens.
func TestSpoolRemovesItsFile(t *testing.T) {
	folder := t.TempDir()
	s := newSpool(newSpoolDisk(Spool{Dir: folder, MaxBytes: 1 << 40}))
	for range 4 {
		if err := s.put(make([]byte, limits.BulkResults), false); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil {
		t.Fatal("nothing went to the disk")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("there is %v, %v", files, err)
	}
	s.close()
}

// All spools together stay within the limit. A spool over the limit waits for
// its reader, but not forever. Forced bytes are still stored.
func TestFullSpool(t *testing.T) {
	disk := newSpoolDisk(Spool{Dir: t.TempDir(), MaxBytes: 2 * limits.BulkResults})
	one, other := newSpool(disk), newSpool(disk)
	defer one.close()
	defer other.close()
	one.timeout, other.timeout = 50*time.Millisecond, 50*time.Millisecond
	piece := make([]byte, limits.BulkResults)
	for range 3 { // once in memory, twice on disk
		if err := one.put(piece, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.put(piece, false); err != nil {
		t.Fatal(err)
	}
	if err := other.put(piece, false); !errors.Is(err, errSpoolFull) {
		t.Errorf("the second spool: %v", err)
	}
	if err := other.put([]byte("the end"), true); err != nil {
		t.Errorf("what must be said: %v", err)
	}
	one.timeout = time.Minute
	go func() { // a late reader
		time.Sleep(20 * time.Millisecond)
		for into := make([]byte, limits.BulkResults); ; {
			if n, _ := one.take(into); n == 0 {
				return
			}
		}
	}()
	if err := one.put(piece, false); err != nil {
		t.Errorf("with a reader: %v", err)
	}
	one.end()
}

// A timeout that fired just before put began to wait used to wake nothing, and
// put waited forever.
func TestTimeoutEndsEvenIfShort(t *testing.T) {
	s := newSpool(newSpoolDisk(Spool{Dir: t.TempDir(), MaxBytes: 0}))
	defer s.close()
	piece := make([]byte, limits.BulkResults)
	if err := s.put(piece, false); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error)
	for i := range 500 {
		s.timeout = time.Duration(i%40+1) * time.Microsecond
		go func() { refused <- s.put(piece, false) }()
		select {
		case err := <-refused:
			if !errors.Is(err, errSpoolFull) {
				t.Fatalf("got %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("after %d times it waits for ever", i)
		}
	}
}

// A disk that cannot be written counts as full.
func TestSpoolWithoutDisk(t *testing.T) {
	s := newSpool(newSpoolDisk(Spool{Dir: t.TempDir() + "/missing", MaxBytes: 1 << 40}))
	defer s.close()
	s.timeout = 20 * time.Millisecond
	piece := make([]byte, limits.BulkResults)
	if err := s.put(piece, false); err != nil {
		t.Fatal(err)
	}
	if err := s.put(piece, false); !errors.Is(err, errSpoolFull) {
		t.Errorf("got %v", err)
	}
	if s.disk.used.Load() != 0 {
		t.Error("what could not be written is counted")
	}
}
