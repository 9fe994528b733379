package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// StartWithClock runs a new cluster whose clock the returned function sets, by an
// offset from the true time. It needs the Debian package libfaketime.
func StartWithClock(t testing.TB) (cluster *Cluster, set func(offset time.Duration)) {
	t.Helper()
	library := tooltest.DebianFile(t, "/usr/lib/*/faketime/libfaketime.so.1", "libfaketime")
	folder, err := os.MkdirTemp("", "pgtest") //nolint:usetesting // the server has another user, who cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "offset")
	set = func(offset time.Duration) {
		t.Helper()
		// The server must never read half of it.
		if err := os.WriteFile(file+".new", fmt.Appendf(nil, "%+d\n", int64(offset.Seconds())), 0o644); err != nil { // the server has another user
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the server has another user
		t.Fatal(err)
	}
	set(0)
	cluster, err = startWith([]string{
		"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	return cluster, set
}
