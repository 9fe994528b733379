package crashtest_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// PostgreSQL is killed again and again while a run is undone: responses to some
// commits are lost, and the command fails or lists the accounts that failed.
// Repeated until it succeeds, it has undone every account once, and the figures
// agree.
func TestRunUndoThroughRestartsOfPostgres(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, database := ownCluster(t)
	f := newFleet(t, database, 2)
	accounts, bad := f.book(400)
	run := f.runAll()
	random := rand.New(rand.NewPCG(seedOf(t), 5))
	ends := []func() error{cluster.Kill, cluster.Abort}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		kills := 0
		defer func() { stopped <- kills }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(100+random.IntN(700)) * time.Millisecond):
			}
			if err := ends[kills%2](); err != nil {
				t.Error(err)
				return
			}
			if err := cluster.Restart(); err != nil {
				t.Error(err)
				return
			}
			kills++
		}
	}()
	attempts := 0
	for early := time.Now().Add(5 * time.Second); time.Now().Before(early); attempts++ {
		if summary, ended := f.undoRun(run, time.Minute); ended && summary.Complete && summary.Undone == accounts-bad {
			break
		}
	}
	close(stop)
	kills := <-stopped
	if kills == 0 {
		t.Error("nothing was killed meanwhile")
	}
	first, ended := f.undoRun(run, time.Minute)
	again, _ := f.undoRun(run, time.Minute)
	want := runUndone{Created: accounts - bad, Undone: accounts - bad, Complete: true}
	if !ended || first != want || again != want {
		t.Errorf("undone %+v, and again %+v, want %+v", first, again, want)
	}
	t.Logf("%d attempts, PostgreSQL was killed %d times", attempts+1, kills)
	f.counted("SELECT count(*) FROM account", 0)
	f.counted("SELECT count(*) FROM event WHERE type = 'account_import.undone'", accounts-bad)
	f.counted("SELECT count(DISTINCT external) FROM event WHERE type = 'account_import.undone'", accounts-bad)
	f.operate("verify")
	eventually(t, 30*time.Second, "a server is ready", func() bool { return f.ready(f.replicas[0]) == http.StatusOK })
	f.exact(f.replicas[0].address(), accounts)
}
