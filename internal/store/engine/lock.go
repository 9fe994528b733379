package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"landfall/internal/lib/filelock"
	"landfall/internal/lib/limits"
)

// fileLock is the right to serve a SQLite file or to change its schema. The
// operating system releases it when the process ends, even after a crash.
type fileLock struct{ file *os.File }

// What the lock is held for.
const (
	lockServing      = "serving"
	lockSchemaChange = "changing the schema"
	lockCopying      = "copying"
)

// openLock opens the lock file, but not a link: it could lead to any file that
// this user may write.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|filelock.OpenFlags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("the lock file %s is a symbolic link: remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock file: %w", err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("the lock file %s is not a regular file: remove it", path)
	}
	// A command of root must not lock out the server's own user.
	database := strings.TrimSuffix(path, ".lock")
	if _, err := os.Stat(database); err != nil {
		database = filepath.Dir(path)
	}
	if err := filelock.GiveToOwnerOf(database, path); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot give the lock file to the owner of the database: %w", err)
	}
	return file, nil
}

// lockFile takes the lock of a database. It waits for a schema change, which ends
// soon, but not for a server or a copy.
func lockFile(ctx context.Context, database, purpose string) (*fileLock, error) {
	path := database + ".lock"
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	for same := 0; ; {
		var taken bool
		taken, err = filelock.TryLock(file)
		if err == nil && !taken {
			break
		}
		if !taken {
			_ = file.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		holder, _ := os.ReadFile(path)
		pid, doing, _ := strings.Cut(strings.TrimSpace(string(holder)), " ")
		// A process that has just taken the lock has not written its purpose
		// yet, so the file may contain that of the previous holder. Read it
		// several times.
		if doing == lockServing || doing == lockCopying {
			same++
		} else {
			same = 0
		}
		if same == 4 {
			_ = file.Close()
			return nil, fmt.Errorf("process %s is %s %s; stop it first", pid, doing, database)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("process %s is changing the schema of %s: %w", pid, database, ctx.Err())
		case <-time.After(limits.LockFilePoll):
		}
	}
	lock := &fileLock{file}
	// A full disk must not keep a server from starting: the content only says
	// who holds the lock.
	if err := lock.write(purpose); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return nil, errors.Join(err, file.Close())
	}
	return lock, nil
}

// write records who holds the lock and what for.
func (l *fileLock) write(purpose string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%d %s\n", os.Getpid(), purpose), 0)
	return err
}

func (l *fileLock) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
