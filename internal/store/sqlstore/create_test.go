package sqlstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
)

// prepareStore creates a supplier, a team and staged processes.
func prepareStore(t testing.TB, store landfall.Store, numbers ...string) {
	t.Helper()
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		if err := tx.CreateTeam(t.Context(), "T"); err != nil {
			return err
		}
		return tx.CreateSupplier(t.Context(), landfall.NewSupplier("S"))
	}); err != nil {
		t.Fatal(err)
	}
	for _, number := range numbers {
		stageNumber(t, store, number)
	}
}

func stageNumber(t testing.TB, store landfall.Store, number string) {
	t.Helper()
	if _, err := store.Stage(t.Context(), landfall.Staging{
		Key: landfall.Key{Supplier: "S", External: number}, Document: []byte(`{}`), Hash: sha256.Sum256([]byte(`{}`)),
	}); err != nil {
		t.Fatal(err)
	}
}

func claimRequest(number string) landfall.ClaimRequest {
	return landfall.ClaimRequest{Key: landfall.Key{Supplier: "S", External: number}, Team: "T", Lease: time.Minute}
}

func claimNumber(t testing.TB, store landfall.Store, number string) landfall.Claim {
	t.Helper()
	outcome, err := store.Claim(t.Context(), claimRequest(number))
	if err != nil || outcome.Verdict != landfall.ClaimGranted {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	return outcome.Claim
}

// tableNames returns the names of all tables in the schema.
func tableNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("schema/sqlite/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`CREATE TABLE (\w+)`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %v", names)
	}
	return names
}

// TestDryRunLeavesEveryTableAlone counts all rows of all tables, so that it also
// covers tables added later.
func TestDryRunLeavesEveryTableAlone(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		mine := claimNumber(t, store, "1")
		count := func() map[string]int {
			rows := map[string]int{}
			for _, table := range tableNames(t) {
				found, err := store.Count(t.Context(), `SELECT count(*) FROM `+table)
				if err != nil {
					t.Fatal(err)
				}
				rows[table] = found
			}
			return rows
		}
		creation := landfall.Creation{Claim: mine, Account: sampleAccount(t), Mails: []landfall.Mail{{Kind: "k", To: "a@b.co"}}}
		creation.Claim.DryRun = true
		before := count()
		outcome, err := store.Create(t.Context(), creation)
		if err != nil || outcome.Verdict != landfall.CreateRolledBack {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		after := count()
		after["event"]-- // records the attempt
		after["commit_mark"] = before["commit_mark"]
		for table, rows := range after {
			if rows != before[table] {
				t.Errorf("%s had %d rows, now %d", table, before[table], rows)
			}
		}
		creation.Claim.DryRun = false
		if outcome, err := store.Create(t.Context(), creation); err != nil || outcome.Verdict != landfall.Created {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		if mails := count()["mail"]; mails != 1 {
			t.Errorf("%d mails queued", mails)
		}
	})
}

// fixedDigits returns the same bytes a given number of times, and then random
// ones.
type fixedDigits struct {
	lock      sync.Mutex
	remaining int // how many more times
}

func (r *fixedDigits) Read(into []byte) (int, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.remaining--; r.remaining >= 0 {
		return bytes.NewReader(make([]byte, len(into))).Read(into)
	}
	return io.ReadFull(rand.Reader, into)
}

// TestTakenNumberIsDrawnAgain draws numbers that are taken. Two accounts with one
// number could not be told apart.
func TestTakenNumberIsDrawnAgain(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		source := &fixedDigits{remaining: 6}
		store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true, Random: source})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		prepareStore(t, store, "1", "2", "3", "4")
		numbers := map[string]bool{}
		for _, external := range []string{"1", "2"} {
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, external), Account: sampleAccount(t)})
			if err != nil || outcome.Verdict != landfall.Created {
				t.Fatalf("got %+v, %v", outcome, err)
			}
			numbers[outcome.Number] = true
		}
		if len(numbers) != 2 || source.remaining >= 0 {
			t.Errorf("%d different numbers, %d draws left", len(numbers), source.remaining)
		}
		source.remaining = 3
		dry := claimNumber(t, store, "3")
		dry.DryRun = true
		outcome, err := store.Create(t.Context(), landfall.Creation{Claim: dry, Account: sampleAccount(t)})
		if err != nil || outcome.Verdict != landfall.CreateRolledBack {
			t.Errorf("dry run: %+v, %v", outcome, err)
		}
		source.remaining = 1 << 20 // a broken source must be an error, not an endless loop
		if outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "4"), Account: sampleAccount(t)}); err == nil {
			t.Errorf("got %+v", outcome)
		}
	})
}

// TestClaimsAreCountedOverReplicas claims on three replicas at once. If each
// counted the limit by itself, it would be three times what the operator set.
func TestClaimsAreCountedOverReplicas(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		replicas := []*sqlstore.Store{openStore(t, url), openStore(t, url), openStore(t, url)}
		var numbers []string
		for number := range 63 {
			numbers = append(numbers, fmt.Sprint(number))
		}
		prepareStore(t, replicas[0], numbers...)
		var one, all atomic.Int32
		var callers sync.WaitGroup
		for at, number := range numbers {
			callers.Go(func() {
				limited := claimRequest(number)
				limited.ServiceLimit = 11
				for _, asked := range []landfall.ClaimRequest{claimRequest("0"), limited} {
					outcome, err := replicas[at%3].Claim(t.Context(), asked)
					switch {
					case err != nil:
						t.Error(err)
					case outcome.Verdict == landfall.ClaimGranted && asked.ServiceLimit == 0:
						one.Add(1)
						all.Add(1)
					case outcome.Verdict == landfall.ClaimGranted:
						all.Add(1)
					}
				}
			})
		}
		callers.Wait()
		if one.Load() != 1 || all.Load() != 11 {
			t.Errorf("one process was claimed %d times, with %d current claims", one.Load(), all.Load())
		}
	})
}

// TestLostResponseOfCreate loses each exchange with the database in turn, in
// each step of importing an account and posting to it. Whatever is lost, the
// result must be true.
func TestLostResponseOfCreate(t *testing.T) {
	server := dbtest.Postgres(t)
	proxy := pgtest.NewProxy(t, server)
	store, direct := openStore(t, proxy.URL), openStore(t, server)
	prepareStore(t, direct)
	account := sampleAccount(t)
	created := func(number string) {
		stageNumber(t, direct, number)
		creation := landfall.Creation{Claim: claimNumber(t, direct, number), Account: account}
		if outcome, err := direct.Create(t.Context(), creation); err != nil || outcome.Verdict != landfall.Created {
			t.Fatalf("got %+v, %v", outcome, err)
		}
	}
	var claimed landfall.Claim
	steps := map[string]struct {
		prepare func(number string)
		do      func(ctx context.Context, number string) (done bool, err error)
		count   string
	}{
		"claim": {
			func(number string) { stageNumber(t, direct, number) },
			func(ctx context.Context, number string) (bool, error) {
				outcome, err := store.Claim(ctx, claimRequest(number))
				return outcome.Verdict == landfall.ClaimGranted, err
			},
			`SELECT count(*) FROM process WHERE external = $1 AND state = 'claimed'`,
		},
		"creation": {
			func(number string) {
				stageNumber(t, direct, number)
				claimed = claimNumber(t, direct, number)
			},
			func(ctx context.Context, _ string) (bool, error) {
				outcome, err := store.Create(ctx, landfall.Creation{Claim: claimed, Account: account})
				return outcome.Verdict == landfall.Created, err
			},
			`SELECT count(*) / 2 FROM process p JOIN ledger_entry e ON e.account_id = p.id WHERE external = $1 AND state = 'imported'`,
		},
		"posting": {
			created,
			func(ctx context.Context, number string) (bool, error) {
				outcome, err := store.Post(ctx, landfall.Posting{
					Key: landfall.Key{Supplier: "S", External: number},
					Decide: func(landfall.AccountState) (landfall.Additions, error) {
						return landfall.Additions{Notes: []landfall.Note{{Body: "b", HasBody: true}}}, nil
					},
				})
				return outcome.Verdict == landfall.Posted, err
			},
			`SELECT count(*) FROM process p JOIN note n ON n.account_id = p.id WHERE external = $1`,
		},
		"undo": {
			created,
			func(ctx context.Context, number string) (bool, error) {
				outcome, err := store.Undo(ctx, landfall.UndoRequest{Key: landfall.Key{Supplier: "S", External: number}, Reason: "r"})
				return outcome.Verdict == landfall.Undone, err
			},
			`SELECT count(*) FROM process p JOIN undone_account u ON u.process_id = p.id
				JOIN event e ON e.external = p.external AND e.type = 'account_import.undone'
				WHERE p.external = $1 AND p.state = 'staged' AND NOT EXISTS (SELECT 1 FROM ledger_entry l WHERE l.account_id = p.id)`,
		},
	}
	for name, step := range steps {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, request %v", name, lost), func(t *testing.T) {
				for n := int64(1); ; n++ {
					if n > 2*maxRequests {
						t.Fatal("the step never ends")
					}
					number := fmt.Sprintf("%s %v %d", name, lost, n)
					step.prepare(number)
					before := proxy.Lost()
					proxy.Lose(n, lost)
					done, err := step.do(t.Context(), number)
					swallowed := proxy.Lost() > before
					proxy.Lose(0, false)
					count, countErr := direct.Count(t.Context(), step.count, number)
					if countErr != nil {
						t.Fatal(countErr)
					}
					switch {
					case err == nil && done && count == 1:
					case errors.Is(err, landfall.ErrUnavailable) && count == 0:
					default:
						t.Errorf("exchange %d lost: got %v and %v, stored %d times", n, done, err, count)
					}
					if !swallowed {
						return
					}
				}
			})
		}
	}
}
