package crashtest_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
)

// seedOf returns the seed of a test's random numbers. LANDFALL_SEED repeats a
// run.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	drawn := rand.Uint64()
	if given := os.Getenv("LANDFALL_SEED"); given != "" {
		var err error
		if drawn, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("LANDFALL_SEED: %v", err)
		}
	}
	t.Logf("LANDFALL_SEED=%d", drawn)
	return drawn
}

// cycles is the number of kills. An environment variable can ask for more.
func cycles(t *testing.T, variable string, usual int) int {
	t.Helper()
	given := os.Getenv(variable)
	if given == "" {
		return usual
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		t.Fatalf("%s: want a number, got %q", variable, given)
	}
	return n
}

// Servers are killed again and again while callers stage, process and post on
// the same accounts. Whatever was confirmed is present once. Whatever had no
// response is present once or not at all, and whole.
func TestKilledUnderLoad(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fleet) {
		usual := map[int]int{1: 10, 3: 6}[len(f.replicas)]
		if testing.Short() {
			usual = 2
		}
		left := cycles(t, "LANDFALL_KILL_CYCLES", usual)
		dice := seedOf(t)
		// Check the history after some kills, so that a long run neither grows
		// without limit nor reports a fault only at its end.
		for round := 0; left > 0 && !t.Failed(); round++ {
			kills := min(left, 25)
			left -= kills
			killRound(f, dice+uint64(round), kills)
		}
	})
}

func killRound(f *fleet, dice uint64, kills int) {
	c := &caller{fleet: f, history: &crashtest.History{}, ruthless: true}
	l := newLoad("K", dice)
	stop := make(chan struct{})
	working := l.run(c, 8, stop)
	random := rand.New(rand.NewPCG(dice, 1<<32))
	for range kills {
		time.Sleep(time.Duration(30+random.IntN(200)) * time.Millisecond)
		victim := f.replicas[random.IntN(len(f.replicas))]
		victim.kill()
		victim.start()
	}
	close(stop)
	working.Wait()
	settle(c, random)
	checkHistory(c, l.name)
}

// settle continues where the callers stopped: it creates a third of the
// accounts that are still pending and does a dry run of another third,
// undisturbed.
func settle(c *caller, random *rand.Rand) {
	c.t.Helper()
	c.quiet()
	for _, key := range c.history.Keys() {
		if status, _ := c.status(key); status != "UNKNOWN" {
			continue
		}
		intent, want := crashtest.Intent{Verb: crashtest.Process, Key: key}, ""
		switch random.IntN(3) {
		case 0:
			continue
		case 1:
			intent.Verb, want = crashtest.DryRun, landfall.CodeDryRunRolledBack
		}
		answer, err := c.send(c.pick(random), intent)
		// Accounts that cannot be created must fail. The checker knows which.
		fine := answer.Code == want || answer.Code == landfall.CodeInstructionNotFound || answer.Code == landfall.CodeMarkedAsSkipped
		if err != nil || !fine {
			c.t.Errorf("%s cannot be processed any more: %v %v", key.External, answer, err)
		}
	}
}

// quiet waits until no request without a response can still be executing.
func (c *caller) quiet() {
	c.t.Helper()
	if !strings.HasPrefix(c.database, "sqlite:") {
		database := c.raw()
		defer database.Close()
		eventually(c.t, soon, "the database is quiet", func() bool {
			var busy int
			err := database.QueryRowContext(c.t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`).Scan(&busy)
			return err == nil && busy == 0
		})
	}
	c.history.Quiet()
}

// checkHistory compares the history with what is there, and that with the audit.
func checkHistory(c *caller, prefix string) {
	c.t.Helper()
	state := c.observe(prefix)
	faults := append(crashtest.Check(c.history, state), crashtest.CheckAudit(state, c.audited())...)
	for i, fault := range faults {
		if i == 20 {
			c.t.Errorf("and %d more", len(faults)-i)
			break
		}
		c.t.Error(fault)
		if external, _, named := strings.Cut(fault, ":"); named && i < 3 {
			c.t.Log(strings.Join(c.history.Tell(external), "\n"))
		}
	}
	for verb, sum := range c.history.Tally() {
		c.t.Logf("%-12s %+v", verb, sum)
	}
}
