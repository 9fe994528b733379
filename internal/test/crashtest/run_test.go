package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/tooltest"
)

// cannotBeCreated is how often an account of a book cannot be created: every
// Nth one.
const cannotBeCreated = 50

// book stages the accounts of a run. An environment variable can ask for more.
// Some have a payment instruction that no vendor knows.
func (f *fleet) book(usual int) (accounts, bad int) {
	f.t.Helper()
	accounts = usual
	if given := os.Getenv("LANDFALL_RUN_ACCOUNTS"); given != "" {
		var err error
		if accounts, err = strconv.Atoi(given); err != nil {
			f.t.Fatalf("LANDFALL_RUN_ACCOUNTS: %v", err)
		}
	}
	var lines bytes.Buffer
	send := func() {
		request, err := http.NewRequest(http.MethodPost, f.pick(rand.New(rand.NewPCG(1, 1)))+imports+"/bulk/account-import-process/create-or-update/", &lines)
		if err != nil {
			f.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-ndjson")
		request.Header.Set("Authorization", "Token "+f.token)
		request.Header.Set("Landfall-Delivery", bookDelivery)
		response, err := f.http.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			f.t.Fatalf("staging a book: %v %v", response, err)
		}
		var answer bytes.Buffer
		_, err = answer.ReadFrom(response.Body)
		response.Body.Close()
		if err != nil || !bytes.Contains(answer.Bytes(), []byte(`"complete":true`)) {
			f.t.Fatalf("staging a book: %v", err)
		}
		lines.Reset()
	}
	for i := range accounts {
		inline := ""
		if i%cannotBeCreated == 7 {
			bad++
			inline = `,"payment_instructions":[{"vendor":"` + vendor + `","reference":"not-found","type":"CARD"}]`
		}
		fmt.Fprintf(&lines, `{"import_supplier":"%s","external_account_number":"B-%06d","customers":[{"family_name":"N"}]%s}`+"\n", supplier, i, inline)
		if i%5000 == 4999 {
			send()
		}
	}
	if lines.Len() > 0 {
		send()
	}
	f.staged = accounts
	return accounts, bad
}

// tally is what the API reports about a run.
type tally struct {
	ID                                              string
	State                                           string
	Reason                                          *string
	Selected, Succeeded, Failed, Refused, Remaining int
}

// startRun starts a run of the book. What callers staged is not part of it, or there
// would be accounts that none of them asked for.
func (f *fleet) startRun(dry bool) tally {
	f.t.Helper()
	body, err := json.Marshal(map[string]any{"import_supplier_code": supplier, "operations_team_name": team, "dry_run": dry,
		"select": map[string]string{"delivery": bookDelivery}})
	if err != nil {
		f.t.Fatal(err)
	}
	status, answer, err := f.request(http.MethodPost, f.replicas[0].address(), imports+"/runs/", body)
	var run tally
	if err != nil || status != http.StatusCreated || json.Unmarshal(answer, &run) != nil {
		f.t.Fatalf("no run: %d %s %v", status, answer, err)
	}
	return run
}

// watch reads a run until it has ended, while something happens.
func (f *fleet) watch(run tally, patience time.Duration, disturb func()) tally {
	f.t.Helper()
	random := rand.New(rand.NewPCG(2, 2))
	for end := time.Now().Add(patience); ; {
		disturb()
		status, answer, err := f.request(http.MethodGet, f.pick(random), imports+"/runs/"+run.ID+"/", nil)
		if err == nil && status == http.StatusOK {
			run = tally{}
			if err := json.Unmarshal(answer, &run); err != nil {
				f.t.Fatal(err)
			}
			if run.Succeeded+run.Failed+run.Refused+run.Remaining != run.Selected || run.Remaining < 0 {
				f.t.Fatalf("the counters do not add up: %s", answer)
			}
			f.exact(f.pick(random), f.staged)
			if run.State == "FINISHED" {
				return run
			}
		}
		if time.Now().After(end) {
			for _, r := range f.replicas {
				f.t.Logf("a replica said:\n%s", r.said())
			}
			f.t.Fatalf("the run does not end: %d %s %v", status, answer, err)
		}
	}
}

// once checks that each account had exactly one outcome in a run.
func (f *fleet) once(run tally, accounts, bad int, passed, failed landfall.EventType) {
	f.t.Helper()
	if run.Selected != accounts || run.Succeeded != accounts-bad || run.Failed != bad || run.Refused != 0 || run.Remaining != 0 {
		f.t.Errorf("%d accounts, %d of them bad: %+v", accounts, bad, run)
	}
	database := f.raw()
	defer database.Close()
	for what, want := range map[string]int{
		fmt.Sprintf(`SELECT count(*) FROM event WHERE type = '%s'`, passed):                 accounts - bad,
		fmt.Sprintf(`SELECT count(DISTINCT external) FROM event WHERE type = '%s'`, passed): accounts - bad,
		// Some accounts may also have failed because the database was
		// unavailable.
		fmt.Sprintf(`SELECT count(DISTINCT external) FROM event WHERE type = '%s' AND (external LIKE '%%07' OR external LIKE '%%57')`, failed): bad,
		fmt.Sprintf(`SELECT count(*) FROM run_failure f JOIN run r ON r.id = f.run_id WHERE r.number = '%s'`, run.ID):                          bad,
		`SELECT count(*) FROM event WHERE type = 'run.finished'`:                                                                               1,
	} {
		var got int
		if err := database.QueryRowContext(f.t.Context(), what).Scan(&got); err != nil || got != want {
			f.t.Errorf("%s: %d, want %d; %v", what, got, want, err)
		}
	}
}

// killing kills a replica from time to time.
func (f *fleet) killing(random *rand.Rand, most time.Duration) func() {
	next := time.Now()
	return func() {
		time.Sleep(50 * time.Millisecond)
		if time.Now().Before(next) {
			return
		}
		victim := f.replicas[random.IntN(len(f.replicas))]
		victim.kill()
		victim.start()
		next = time.Now().Add(most/4 + time.Duration(random.Int64N(int64(most))))
	}
}

// Servers are killed again and again during a run. Every account is created
// once, the counters are exact, and the run ends. The dry run before it holds
// no claims and is just as exact.
func TestRunThroughKills(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, f *fleet) {
		accounts, bad := f.book(800)
		random := rand.New(rand.NewPCG(seedOf(t), 3))
		kill := f.killing(random, time.Second)
		run := f.watch(f.startRun(true), time.Minute+time.Duration(accounts)*10*time.Millisecond, kill)
		f.once(run, accounts, bad, landfall.EventDryRunCompleted, landfall.EventDryRunFailed)
		f.forgetEnds()
		run = f.watch(f.startRun(false), time.Minute+time.Duration(accounts)*10*time.Millisecond, kill)
		f.once(run, accounts, bad, landfall.EventImportCompleted, landfall.EventImportFailed)
		f.counted("SELECT count(*) FROM account", accounts-bad)
		f.operate("verify")
	})
}

// forgetEnds removes the outcomes, so that those of the next run are counted
// alone.
func (f *fleet) forgetEnds() {
	database := f.raw()
	defer database.Close()
	if _, err := database.ExecContext(f.t.Context(), `DELETE FROM event WHERE type = 'run.finished'`); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) counted(what string, want int) {
	f.t.Helper()
	database := f.raw()
	defer database.Close()
	var got int
	if err := database.QueryRowContext(f.t.Context(), what).Scan(&got); err != nil || got != want {
		f.t.Errorf("%s: %d, want %d; %v", what, got, want, err)
	}
}

// PostgreSQL is killed and restarted during a run.
func TestRunThroughRestartsOfPostgres(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, database := ownCluster(t)
	f := newFleet(t, database, 3)
	accounts, bad := f.book(800)
	random := rand.New(rand.NewPCG(seedOf(t), 4))
	ends := []func() error{cluster.Kill, cluster.Abort}
	kills, next := 0, time.Now()
	run := f.watch(f.startRun(false), 2*time.Minute+time.Duration(accounts)*30*time.Millisecond, func() {
		time.Sleep(50 * time.Millisecond)
		if time.Now().Before(next) {
			return
		}
		if err := ends[kills%2](); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		if err := cluster.Restart(); err != nil {
			t.Fatal(err)
		}
		kills++
		next = time.Now().Add(time.Duration(1000+random.IntN(2000)) * time.Millisecond)
		if accounts > 10_000 {
			next = next.Add(3 * time.Second) // recovery takes longer too
		}
	})
	f.once(run, accounts, bad, landfall.EventImportCompleted, landfall.EventImportFailed)
	f.counted("SELECT count(*) FROM account", accounts-bad)
	f.operate("verify")
}
