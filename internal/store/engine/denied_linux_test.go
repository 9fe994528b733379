package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestDeniedFileNamesTheUser opens a database as a user without permission. Only the
// goroutine's own thread changes its user, and ends with it.
func TestDeniedFileNamesTheUser(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	said := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if _, _, failed := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); failed != 0 {
			said <- failed
			return
		}
		said <- fileError(path, sqliteDialect.wrap(codedError(14)))
	}()
	err := <-said
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may change the user")
	}
	if want := "cannot open " + path + ": permission denied for user "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("it says %q", err)
	}
}
