package crashtest_test

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/tooltest"
)

// faultyTarget is a target in this process. It does each delivery once by its key, as
// far as its fault lets it.
type faultyTarget struct {
	*httptest.Server
	code  string
	shape string // its jq program; "": none

	mu     sync.Mutex
	done   map[string]bool
	stored map[string][]string // keys by number, in the order in which they took effect
}

// newFaultyTarget starts a target. The fault is asked about each request. It says with
// which status to answer (0: the connection is reset), and whether the delivery takes
// effect.
func newFaultyTarget(t *testing.T, code string, fault func(body []byte) (status int, effect bool)) *faultyTarget {
	t.Helper()
	f := &faultyTarget{code: code, done: map[string]bool{}, stored: map[string][]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		number, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/accounts/"), "/")
		if err != nil || !json.Valid(body) {
			t.Errorf("%s %s: %v: %s", r.Method, r.URL, err, body)
		}
		status, effect := fault(body)
		if effect {
			f.store(number, r.Header.Get("Idempotency-Key"))
		}
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if tcp, is := connection.(*net.TCPConn); is {
			_ = tcp.SetLinger(0) // a reset, not an orderly end
		}
		_ = connection.Close()
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *faultyTarget) store(number, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done[key] {
		f.done[key] = true
		f.stored[number] = append(f.stored[number], key)
	}
}

func (f *faultyTarget) keys() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.done)
}

// tenth matches what is delivered of one account in ten.
var tenth = regexp.MustCompile(`"external_account_number":"[^"]*0"`)

// Six suppliers deliver to six targets: one that is well, one that is slow, one that is
// down, one that often answers with an error, one that resets connections, before or
// after it did the delivery, and one that refuses one account in ten. All accounts are
// created, and all that can be delivered arrives, while the one is down. When it is up
// again and the refusals are over, every target has everything once and in order.
func TestTargetsWithFaults(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	onBoth(t, deliverToFaultyTargets)
}

func deliverToFaultyTargets(t *testing.T, f *fleet) {
	accounts := cycles(t, "LANDFALL_TARGET_FAULTS", 40)
	const deliveries = 7 // of each account
	var up, lenient atomic.Bool
	well := func([]byte) (int, bool) { return http.StatusCreated, true }
	targets := []*faultyTarget{
		newFaultyTarget(t, "WELL", well),
		newFaultyTarget(t, "SLOW", func([]byte) (int, bool) {
			time.Sleep(50 * time.Millisecond)
			return http.StatusOK, true
		}),
		newFaultyTarget(t, "DOWN", func([]byte) (int, bool) {
			if up.Load() {
				return http.StatusOK, true
			}
			return http.StatusServiceUnavailable, false
		}),
		newFaultyTarget(t, "ERRORS", func([]byte) (int, bool) {
			status := http.StatusOK
			if statuses := []int{500, 502, 503, 504, 429, 418, 302}; rand.IntN(8) == 0 {
				status = statuses[rand.IntN(len(statuses))]
			}
			return status, status == http.StatusOK
		}),
		newFaultyTarget(t, "RESET", func([]byte) (int, bool) {
			switch rand.IntN(10) {
			case 0:
				return 0, false
			case 1:
				return 0, true
			}
			return http.StatusOK, true
		}),
		newFaultyTarget(t, "PICKY", func(body []byte) (int, bool) {
			if tenth.Match(body) && !lenient.Load() {
				return http.StatusUnprocessableEntity, false
			}
			return http.StatusOK, true
		}),
	}
	f.connectTargets(targets)
	t.Cleanup(func() {
		for _, target := range targets {
			if t.Failed() {
				t.Logf("%s has %d deliveries; the service says %s", target.code, target.keys(), f.operate("target", "show", target.code, "--json"))
			}
		}
	})

	// Nothing waits for the target that is down: this ends before it is up.
	var creating sync.WaitGroup
	for _, target := range targets {
		creating.Go(func() { f.sendAccounts(target.code, 0, accounts) })
	}
	creating.Wait()
	eventually(t, 6*time.Minute, "the other targets have everything", func() bool {
		for _, target := range targets {
			switch target.code {
			case "DOWN":
				if target.keys() != 0 {
					t.Fatal("a delivery took effect at a target that is down")
				}
			case "PICKY":
				if figures := f.targetFigures(target.code); figures.Waiting > 0 || figures.Refused == 0 {
					return false
				}
			default:
				if target.keys() < accounts*deliveries {
					return false
				}
			}
		}
		return true
	})
	held := (accounts + 9) / 10
	if got, says := targets[5].keys(), f.targetFigures("PICKY").Refused; got != (accounts-held)*deliveries || says != held {
		t.Errorf("%d deliveries arrived and %d were refused, want %d of each of %d accounts, and %d refused", got, says, deliveries, accounts-held, held)
	}
	up.Store(true)
	lenient.Store(true)
	f.operate("target", "resume", "DOWN")
	f.operate("target", "replay", "PICKY")
	for _, target := range targets {
		eventually(t, 3*time.Minute, target.code+" has everything", func() bool {
			figures := f.targetFigures(target.code)
			return figures.Waiting+figures.Pending+figures.Refused == 0 && target.keys() == accounts*deliveries
		})
		f.compareTarget(target.code, target.stored, accounts)
	}
}

// Targets have jq programs. One gets exactly what its program makes. The programs of
// others never end, or need more memory than there is: their accounts are refused with
// the reason, and all accounts of the other targets arrive.
func TestTargetsWithPrograms(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	onBoth(t, deliverShaped)
}

func deliverShaped(t *testing.T, f *fleet) {
	const accounts = 3
	well := func([]byte) (int, bool) { return http.StatusCreated, true }
	var shaped sync.Map
	targets := []*faultyTarget{newFaultyTarget(t, "WELL", well), newFaultyTarget(t, "SHAPED", func(body []byte) (int, bool) {
		shaped.Store(string(body), true)
		return http.StatusCreated, true
	})}
	targets[1].shape = `{of: .external_account_number, owner: (.data.customers // [])[0].family_name, notes: [.notes[]?.body],
		sum: ([.transactions[]?.amount | tonumber] | add), secrets: ($ENV | length), more: (env | length)}`
	hostile := map[string]string{
		"LOOP": `def f: f; f`, "HUGE": `[range(1e10)]`, "LONG": `reduce range(40) as $i ("xxxxxxxx"; . + .)`,
		"DEEP": `def f: [f]; f`, "MANY": `., .`, "NONE": `empty`, "FALSE": `error("no")`,
	}
	for code, program := range hostile {
		target := newFaultyTarget(t, code, well)
		target.shape = program
		targets = append(targets, target)
	}
	f.connectTargets(targets)
	for _, target := range targets {
		f.sendAccounts(target.code, 0, accounts)
	}
	for _, target := range targets {
		what := target.code + " has everything, or refused it"
		if hostile[target.code] == "" {
			eventually(t, 3*time.Minute, what, func() bool {
				return target.keys() == 7*accounts && f.targetFigures(target.code).Waiting == 0
			})
			f.compareTarget(target.code, target.stored, accounts)
			continue
		}
		eventually(t, 3*time.Minute, what, func() bool { return f.targetFigures(target.code).Refused == accounts })
		if target.keys() != 0 {
			t.Errorf("%s got %d deliveries", target.code, target.keys())
		}
		if words := f.operate("delivery", "list", target.code, "--state", "refused"); strings.Count(words, "jq program") != accounts {
			t.Errorf("%s: the reasons are\n%s", target.code, words)
		}
	}
	for _, want := range []string{
		`{"more":0,"notes":[],"of":"T-000001","owner":"Lovelace","secrets":0,"sum":null}`,
		`{"more":0,"notes":["note 1"],"of":"T-000001","owner":null,"secrets":0,"sum":null}`,
		`{"more":0,"notes":[],"of":"T-000001","owner":null,"secrets":0,"sum":1}`,
	} {
		if _, got := shaped.Load(want); !got {
			shaped.Range(func(body, _ any) bool { t.Log(body); return true })
			t.Errorf("no delivery was %s", want)
		}
	}
}

// connectTargets creates for each target a supplier of the same name.
func (f *fleet) connectTargets(targets []*faultyTarget) {
	f.t.Helper()
	ctx := f.t.Context()
	store, err := sqlstore.Open(ctx, f.database, sqlstore.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer store.Close()
	operator := operate.New(store, operate.Options{Actor: "operator:crashtest"})
	for _, target := range targets {
		program := "none"
		if target.shape != "" {
			program = filepath.Join(f.t.TempDir(), "shape.jq")
			if err := os.WriteFile(program, []byte(target.shape), 0o600); err != nil {
				f.t.Fatal(err)
			}
		}
		f.operate("target", "set", target.code, "--url", target.URL, "--shape", program)
		_, err := operator.CreateSupplier(ctx, target.code, operate.SupplierChange{Target: &target.code})
		if err := errors.Join(err, operator.Grant(ctx, target.code, "Acme")); err != nil {
			f.t.Fatal(err)
		}
	}
}

// targetFigures returns what waits for a target.
func (f *fleet) targetFigures(code string) (found landfall.TargetFigures) {
	f.t.Helper()
	store := f.open()
	defer store.Close()
	if err := store.View(f.t.Context(), func(view landfall.View) error {
		all, err := view.TargetFigures(f.t.Context())
		for _, one := range all {
			if one.Target.Code == code {
				found = one
			}
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	if found.Target.Code == "" {
		f.t.Fatalf("there is no target %s", code)
	}
	return found
}
