package crashtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/test/tooltest"
)

// smallTarget is the target of the program, in a process that can be killed. It
// stores accounts in a folder, so it knows after a restart what it has.
type smallTarget struct {
	t       *testing.T
	program string
	folder  string
	address string
	flags   []string
	process *exec.Cmd
}

// start starts the target, after the first time at the same address.
func (s *smallTarget) start() {
	s.t.Helper()
	for {
		command := exec.Command(s.program, append([]string{"target", "serve", "--to", s.folder, "--listen", s.address}, s.flags...)...)
		command.SysProcAttr = killWithTests
		output, err := command.StdoutPipe()
		if err != nil {
			s.t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			s.t.Fatal(err)
		}
		line, err := bufio.NewReader(output).ReadString('\n')
		if _, rest, found := strings.Cut(line, "http://"); err == nil && found {
			s.address, _, _ = strings.Cut(rest, " ")
			s.process = command
			return
		}
		// The address is not free yet.
		_ = command.Wait()
		if s.t.Context().Err() != nil {
			return
		}
	}
}

func (s *smallTarget) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Accounts with postings are created while servers, the target and, on PostgreSQL, the
// database are killed at random; the target also fails now and then. In the end the
// target has every account once and every posting once and in order, and what the
// service says is delivered is there.
func TestTargetsSurviveKills(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	accounts := cycles(t, "LANDFALL_TARGET_ACCOUNTS", 200)
	settings := []string{"--webhook-lease", "2s"}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		deliverAccounts(newFleet(t, "sqlite:"+t.TempDir()+"/landfall.db", 1, settings...), accounts, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		cluster, database := ownCluster(t)
		deliverAccounts(newFleet(t, database, 3, settings...), accounts, func() error {
			if err := cluster.Abort(); err != nil {
				return err
			}
			return cluster.Restart()
		})
	})
}

func deliverAccounts(f *fleet, accounts int, disturb func() error) {
	t := f.t
	random := rand.New(rand.NewPCG(seedOf(t), 19))
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	small := &smallTarget{t: t, program: f.program, folder: t.TempDir(), address: listener.Addr().String(), flags: []string{"--fail-every", "23"}}
	_ = listener.Close()
	small.start()
	t.Cleanup(small.kill)
	f.operate("target", "set", "BILLING", "--url", "http://"+small.address)
	f.operate("supplier", "set", supplier, "--target", "BILLING")
	// Many accounts are sent in larger parts, with longer pauses between the kills.
	part, pause := min(max(20, accounts/100), 500), min(max(1, accounts/1000), 10)
	var created atomic.Int64
	written := make(chan struct{})
	go func() {
		defer close(written)
		for from := 0; from < accounts; from += part {
			f.sendAccounts(supplier, from, min(from+part, accounts))
			created.Store(int64(min(from+part, accounts)))
		}
	}()
	ends := time.Now().Add(3*time.Minute + time.Duration(accounts)*250*time.Millisecond)
	for kills := 0; ; kills++ {
		select {
		case <-written:
			if f.allDelivered() {
				t.Logf("%d accounts, %d kills", accounts, kills)
				f.compareTarget(supplier, small.stored(), accounts)
				return
			}
		default:
		}
		if time.Now().After(ends) {
			t.Fatalf("not everything was delivered: %d created, %s", created.Load(), f.operate("target", "show", "BILLING", "--json"))
		}
		time.Sleep(time.Duration(pause*(200+random.IntN(800))) * time.Millisecond)
		switch {
		case kills == 2 && disturb != nil:
			if err := disturb(); err != nil {
				t.Error(err)
			}
		case kills%50 == 49 && disturb != nil && created.Load() < int64(accounts):
			if err := disturb(); err != nil {
				t.Error(err)
			}
		case kills > 12 && pause == 1 && random.IntN(4) > 0: // less later, so that it ends
		case random.IntN(2) == 0:
			small.kill()
			small.start()
		default:
			victim := f.replicas[random.IntN(len(f.replicas))]
			victim.kill()
			victim.start()
		}
	}
}

// sendAccounts creates accounts with postings in bulk, and repeats each step until
// every line is answered as done.
func (f *fleet) sendAccounts(of string, from, to int) {
	const notes, payments = 2, 2
	steps := []struct {
		kind string
		line func(external string) []string
	}{
		{"account-import-process/create-or-update", func(external string) []string {
			return []string{fmt.Sprintf(`{"import_supplier":%q,"external_account_number":%q,"customers":[{"family_name":"Lovelace"}]}`, of, external)}
		}},
		{"account-import-process/process", func(external string) []string {
			return []string{fmt.Sprintf(`{"import_supplier_code":%q,"external_account_number":%q,"operations_team_name":%q}`, of, external, team)}
		}},
		{"notes/create", func(external string) (lines []string) {
			for n := range notes {
				lines = append(lines, fmt.Sprintf(`{"import_supplier":%q,"external_account_number":%q,"notes":[{"body":"note %d","created_at":"2026-01-0%dT00:00:00Z"}]}`,
					of, external, n, n+1))
			}
			return lines
		}},
		{"transactions/create", func(external string) (lines []string) {
			for n := range payments {
				lines = append(lines, fmt.Sprintf(`{"import_supplier":%q,"external_account_number":%q,"transactions":[{"transaction_id":"%s-%d","transaction_date":"2026-02-01","amount":"1.00","type":"PAYMENT"}]}`,
					of, external, external, n))
			}
			return lines
		}},
	}
	random := rand.New(rand.NewPCG(uint64(from), 1))
	for _, step := range steps {
		var body bytes.Buffer
		lines := 0
		for number := from; number < to; number++ {
			for _, line := range step.line(fmt.Sprintf("T-%06d", number)) {
				fmt.Fprintln(&body, line)
				lines++
			}
		}
		for f.t.Context().Err() == nil && !f.sendLines(f.pick(random), step.kind, body.Bytes(), lines) {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// sendLines sends a bulk request and reports whether every line is done, now or before.
func (f *fleet) sendLines(base, kind string, body []byte, lines int) bool {
	request, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, base+"/v1/data-import/bulk/"+kind+"/", bytes.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Token "+f.token)
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := f.http.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	done := 0
	for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
		var line struct {
			Status int
			Body   json.RawMessage // of notes it is a list
		}
		if json.Unmarshal(scanner.Bytes(), &line) == nil &&
			(line.Status/100 == 2 || bytes.Contains(line.Body, []byte(`"code":"`+landfall.CodeAlreadyImported+`"`))) {
			done++
		}
	}
	return done == lines
}

// allDelivered reports whether nothing waits for the target.
func (f *fleet) allDelivered() (all bool) {
	store := f.open()
	defer store.Close()
	err := store.View(f.t.Context(), func(view landfall.View) error {
		figures, err := view.TargetFigures(f.t.Context())
		all = err == nil && len(figures) == 1 && figures[0].Waiting+figures[0].Pending+figures[0].Refused == 0
		return err
	})
	return err == nil && all
}

// stored returns the keys that the target stored by number, in the order in which they
// took effect.
func (s *smallTarget) stored() map[string][]string {
	t := s.t
	t.Helper()
	stored := map[string][]string{}
	err := filepath.WalkDir(s.folder, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		var account struct {
			Number   string
			Keys     map[string]int
			Account  struct{ Notes, Ledger []any }
			Postings []struct{ Key string }
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &account)
		}
		keys := []string{}
		for _, posting := range account.Postings {
			keys = append(keys, posting.Key)
			delete(account.Keys, posting.Key)
		}
		if len(account.Keys) != 1 || len(account.Account.Notes) != 0 || len(account.Account.Ledger) != 0 {
			t.Errorf("%s was created with %v: %+v", account.Number, account.Keys, account.Account)
		}
		for key := range account.Keys {
			stored[account.Number] = append([]string{key}, keys...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// compareTarget compares what the target stored, keys by number, with the deliveries of
// each account.
func (f *fleet) compareTarget(of string, stored map[string][]string, accounts int) {
	t := f.t
	t.Helper()
	store := f.open()
	defer store.Close()
	for number := range accounts {
		inView(t, store, func(view landfall.View) error {
			key := landfall.Key{Supplier: of, External: fmt.Sprintf("T-%06d", number)}
			found, err := view.TargetDeliveries(t.Context(), landfall.TargetDeliveryQuery{Key: &key, Limit: 100})
			if err != nil {
				return err
			}
			var want []string
			for _, one := range found {
				want = append(want, contract.DeliveryID(one.ID, one.At))
				if one.State != landfall.TargetDelivered {
					t.Errorf("%s: %s is %s", key.External, one.Kind, one.State)
				}
			}
			// The account, two notes, two transactions, and the notes of the service
			// about their moved dates.
			if len(want) != 7 || fmt.Sprint(stored[found[0].Number]) != fmt.Sprint(want) {
				t.Errorf("%s: the target has %v, the service says %v", key.External, stored[found[0].Number], want)
			}
			return nil
		})
	}
	inView(t, store, func(view landfall.View) error {
		kept, err := view.Tallies(t.Context(), of)
		if err != nil {
			return err
		}
		counted, err := view.Recount(t.Context(), of)
		if wrong := kept.Differences(&counted); len(wrong) > 0 {
			t.Errorf("sums differ: %v", wrong)
		}
		return err
	})
	if len(stored) != accounts {
		t.Errorf("the target has %d accounts, want %d", len(stored), accounts)
	}
}

// inView reads in a short transaction.
func inView(t *testing.T, store landfall.Store, read func(landfall.View) error) {
	t.Helper()
	if err := store.View(t.Context(), read); err != nil {
		t.Fatal(err)
	}
}
