package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"landfall/internal/lib/filelock"
)

// fileLock is the right to serve a SQLite file or to change its schema. The
// operating system takes it back when the process ends, however it ends.
type fileLock struct{ file *os.File }

// What a holder of the lock does with it.
const (
	serving  = "serving"
	changing = "changing the schema"
)

// openLock opens the lock file itself: a link in its place could lead what is
// written into it into any file this user may write.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|filelock.OpenFlags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("the lock file %s is a link: remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock file: %w", err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("the lock file %s is no ordinary file: remove it", path)
	}
	return file, nil
}

// lockFile takes the lock beside a database. A server never lets go, so there
// is no point in waiting for one; a schema change is over soon.
func lockFile(ctx context.Context, database, purpose string) (*fileLock, error) {
	path := database + ".lock"
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	for sure := 0; ; {
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
		// Who has just taken the lock has not written so yet, and what is
		// written may be of the holder before: only what stays so is believed.
		if doing == serving {
			sure++
		} else {
			sure = 0
		}
		if sure == 4 {
			_ = file.Close()
			return nil, fmt.Errorf("process %s is serving %s; stop it first", pid, database)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("process %s is changing the schema of %s: %w", pid, database, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	lock := &fileLock{file}
	return lock, lock.say(purpose)
}

// say writes down who holds the lock and what for.
func (l *fileLock) say(purpose string) error {
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
