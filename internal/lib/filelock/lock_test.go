package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"landfall/internal/lib/filelock"
)

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|filelock.OpenFlags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	first, second := open(), open()
	for _, try := range []struct {
		file  *os.File
		taken bool
	}{{first, false}, {second, true}} {
		if taken, err := filelock.TryLock(try.file); taken != try.taken || err != nil {
			t.Errorf("taken: %v, want %v, %v", taken, try.taken, err)
		}
	}
	first.Close()
	if taken, err := filelock.TryLock(second); taken || err != nil {
		t.Errorf("after the holder left: %v, %v", taken, err)
	}
}
