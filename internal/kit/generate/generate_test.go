package generate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/kit/generate"
	"landfall/internal/lib/money"
)

var now = time.Date(2026, time.July, 15, 9, 0, 0, 0, time.UTC)

func order(faults ...generate.Fault) generate.Options {
	return generate.Options{
		Accounts: 500, Seed: 7, Supplier: "NORTH", AsOf: generate.DefaultAsOf, Vendor: "bank", Faults: faults,
	}
}

// north is the supplier the books are for.
func north() *landfall.Supplier {
	supplier := landfall.NewSupplier("NORTH")
	return &supplier
}

// TestFaultlessAccountsPassEveryRule checks that valid accounts get neither errors nor warnings.
func TestFaultlessAccountsPassEveryRule(t *testing.T) {
	for index := range 2_000 {
		entry := order().Draw(index)
		account, err := contract.ReadAccount(context.Background(), entry.Account)
		if err != nil {
			t.Fatalf("account %d: %v\n%s", index, err, entry.Account)
		}
		sum := account.Figures("GBP")
		verdict := account.Check(north(), now)
		if len(verdict.Errors)+len(verdict.Warnings) > 0 {
			t.Fatalf("account %d: %+v %+v\n%s", index, verdict.Errors, verdict.Warnings, entry.Account)
		}
		for line, check := range map[*[]byte]func([]byte) (contract.Verdict, landfall.Figures, error){
			&entry.Notes: checkNotes, &entry.Transactions: checkTransactions, &entry.Statements: checkStatements,
		} {
			if *line == nil {
				continue
			}
			verdict, brings, err := check(*line)
			if err != nil || len(verdict.Errors)+len(verdict.Warnings) > 0 {
				t.Fatalf("%v: %+v %+v\n%s", err, verdict.Errors, verdict.Warnings, *line)
			}
			sum.Add(brings)
		}
		if entry.Instruction != nil {
			sum.Instructions++
			if _, err := contract.ReadInstruction(context.Background(), entry.Instruction); err != nil {
				t.Fatalf("%v\n%s", err, entry.Instruction)
			}
		}
		if sum != entry.Figures {
			t.Fatalf("account %d comes to %+v, the old system says %+v", index, sum, entry.Figures)
		}
	}
}

func checkNotes(line []byte) (contract.Verdict, landfall.Figures, error) {
	request, err := contract.ReadNotes(context.Background(), line)
	if err != nil {
		return contract.Verdict{}, landfall.Figures{}, err
	}
	return request.Check(north(), now), request.Figures(), nil
}

func checkTransactions(line []byte) (contract.Verdict, landfall.Figures, error) {
	request, err := contract.ReadTransactions(context.Background(), line)
	if err != nil {
		return contract.Verdict{}, landfall.Figures{}, err
	}
	return request.Check(north(), now, true), request.Figures(), nil
}

func checkStatements(line []byte) (contract.Verdict, landfall.Figures, error) {
	request, err := contract.ReadStatements(context.Background(), line)
	if err != nil {
		return contract.Verdict{}, landfall.Figures{}, err
	}
	return request.Check(north(), now), request.Figures(), nil
}

// TestEveryFaultIsFound makes each mistake in every possible account and wants the rules to find it.
func TestEveryFaultIsFound(t *testing.T) {
	for _, kind := range generate.FaultKinds() {
		t.Run(kind[0], func(t *testing.T) {
			made, earlier, across := 0, map[string]bool{}, slices.Contains(generate.AcrossFaultKinds, kind[0])
			for index := range 200 {
				share := 1.0
				if across {
					share = 0.5 // the others are needed
				}
				entry := order(generate.Fault{Kind: kind[0], Share: share}).Draw(index)
				if entry.Fault == "" {
					if across {
						earlier[sharedIdentifier(t, kind[0], entry)] = true
					}
					continue
				}
				made++
				var account *contract.Account
				var err error
				if entry.Account != nil {
					account, err = contract.ReadAccount(context.Background(), entry.Account)
				}
				switch kind[0] {
				case "json":
					if err == nil {
						t.Fatalf("read all the same: %s", entry.Account)
					}
				case "number":
					if before := order().Draw(index - 1); !bytes.Contains(before.Account, []byte(account.Key().External)) {
						t.Fatalf("%s is not the number before", account.Key().External)
					}
				case "lost":
					if entry.Account != nil || entry.Figures.Accounts != 1 {
						t.Fatalf("not lost: %+v", entry)
					}
				case "orphan":
					if bytes.Contains(entry.Notes, []byte(`"`+account.Key().External+`"`)) {
						t.Fatalf("the note is for the account itself: %s", entry.Notes)
					}
				case "shared-point", "shared-mandate":
					if account.Check(north(), now).Err() != nil || !earlier[sharedIdentifier(t, kind[0], entry)] {
						t.Fatalf("no earlier account has the same: %s", entry.Account)
					}
				default:
					if account.Check(north(), now).Err() == nil {
						t.Fatalf("not detected: %s", entry.Account)
					}
				}
			}
			if made < 150 && !across || made < 30 {
				t.Errorf("made in %d of 200 accounts", made)
			}
		})
	}
}

// sharedIdentifier returns what an account may share with another one.
func sharedIdentifier(t *testing.T, kind string, entry generate.Entry) string {
	t.Helper()
	var account struct {
		Supplies []struct {
			Points []struct{ Identifier string } `json:"supply_points"`
		} `json:"supply_addresses"`
	}
	var instruction struct{ Reference string }
	if err := json.Unmarshal(entry.Account, &account); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(entry.Instruction, &instruction) // there may be none
	if kind == "shared-mandate" {
		return instruction.Reference
	}
	return account.Supplies[0].Points[0].Identifier
}

// Accounts with the fields of packs are valid too, and have the figures of the others.
func TestAccountsWithPacksPassEveryRule(t *testing.T) {
	for _, name := range []string{"gb-energy@1", "au-energy@1"} {
		schema, err := contract.OpenSchema([]string{name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		with := order()
		with.Schema = schema
		for index := range 200 {
			entry := with.Draw(index)
			account, err := schema.ReadAccount(t.Context(), entry.Account)
			if err != nil {
				t.Fatalf("account %d: %v\n%s", index, err, entry.Account)
			}
			if verdict := account.Check(north(), now); len(verdict.Errors) > 0 {
				t.Fatalf("account %d: %+v\n%s", index, verdict.Errors, entry.Account)
			}
			if got := account.Figures("GBP"); got.Balance+lateBalance(t, entry) != entry.Figures.Balance || got.SupplyPoints != entry.Figures.SupplyPoints {
				t.Fatalf("account %d comes to %+v, the old system says %+v\n%s", index, got, entry.Figures, entry.Account)
			}
			if bytes.Contains(entry.Account, []byte(`"supply_points"`)) || !bytes.Contains(entry.Account, []byte(`"meter_points"`)) {
				t.Fatalf("account %d does not have the names of the pack: %s", index, entry.Account)
			}
		}
	}
}

// lateBalance is what payments after the export add to the balance.
func lateBalance(t *testing.T, entry generate.Entry) money.Amount {
	t.Helper()
	if entry.Transactions == nil {
		return 0
	}
	_, figures, err := checkTransactions(entry.Transactions)
	if err != nil {
		t.Fatal(err)
	}
	return figures.Balance
}

// TestTheSameSeedGivesTheSameBytes compares with bytes generated elsewhere. Changing them changes
// every book that people identify by its seed.
func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	sum := sha256.New()
	for index := range 300 {
		entry := order(generate.Fault{Kind: "phone", Share: 0.02}, generate.Fault{Kind: "balance", Share: 0.01}).Draw(index)
		for _, line := range [][]byte{entry.Account, entry.Notes, entry.Transactions, entry.Statements, entry.Instruction} {
			sum.Write(line)
			sum.Write([]byte("\n"))
		}
	}
	const want = "a79038c7d8af2dd05319f352ac83559f026644af511d61ebf7e6e6c34f2a28f2"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the book's sum is %s, want %s", got, want)
	}
}

// TestFaultsLeaveTheOthersAlone checks that valid accounts do not depend on the faults.
func TestFaultsLeaveTheOthersAlone(t *testing.T) {
	faults := order(generate.Fault{Kind: "phone", Share: 0.1}, generate.Fault{Kind: "json", Share: 0.2})
	made := map[string]int{}
	for index := range 2_000 {
		entry, plain := faults.Draw(index), order().Draw(index)
		made[entry.Fault]++
		if entry.Fault == "" && !bytes.Equal(entry.Account, plain.Account) {
			t.Fatalf("account %d changed", index)
		}
	}
	if made["phone"] < 140 || made["phone"] > 260 || made["json"] < 320 || made["json"] > 480 {
		t.Errorf("of 2,000 accounts, 10 %% and 20 %% wanted: %v", made)
	}
}

// TestInvalidOptions checks that invalid options are refused before anything is written.
func TestInvalidOptions(t *testing.T) {
	for name, spoil := range map[string]func(*generate.Options){
		"no accounts":    func(o *generate.Options) { o.Accounts = 0 },
		"too many":       func(o *generate.Options) { o.Accounts = 8_000_001 },
		"no supplier":    func(o *generate.Options) { o.Supplier = "" },
		"no day":         func(o *generate.Options) { o.AsOf = generate.DefaultAsOf.AddDays(-365_000) },
		"unknown fault":  func(o *generate.Options) { o.Faults = []generate.Fault{{Kind: "fone", Share: 0.1}} },
		"negative share": func(o *generate.Options) { o.Faults = []generate.Fault{{Kind: "phone", Share: -0.1}} },
		"over the whole": func(o *generate.Options) {
			o.Faults = []generate.Fault{{Kind: "phone", Share: 0.6}, {Kind: "email", Share: 0.6}}
		},
	} {
		o := order()
		spoil(&o)
		if o.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := order().Check(); err != nil {
		t.Error(err)
	}
}

// TestAccountsDiffer looks for repeated accounts.
func TestAccountsDiffer(t *testing.T) {
	points := map[string]bool{}
	for index := range 2_000 {
		var account struct {
			Supplies []struct {
				Points []struct{ Identifier string } `json:"supply_points"`
			} `json:"supply_addresses"`
		}
		if err := json.Unmarshal(order().Draw(index).Account, &account); err != nil {
			t.Fatal(err)
		}
		points[account.Supplies[0].Points[0].Identifier] = true
	}
	if len(points) != 2_000 {
		t.Errorf("%d supply numbers for 2,000 accounts", len(points))
	}
}

// TestOutputDoesNotDependOnCores generates a book on one core and on several.
func TestOutputDoesNotDependOnCores(t *testing.T) {
	var sums [][32]byte
	for _, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		folder := t.TempDir()
		o := order(generate.Fault{Kind: "phone", Share: 0.1})
		o.Accounts = 1_000
		printed, err := o.WriteBook(t.Context(), folder, "", func(int) {})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if printed.Lines[book.Accounts] != 1_000 || printed.Faults["phone"] == 0 {
			t.Errorf("printed %+v", printed)
		}
		text, err := os.ReadFile(filepath.Join(folder, "accounts.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sha256.Sum256(text))
	}
	if sums[0] != sums[1] {
		t.Error("the books differ")
	}
}

// TestStoppedGeneratorLeavesNoFiles cancels the generation halfway.
func TestStoppedGeneratorLeavesNoFiles(t *testing.T) {
	folder := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	o := order()
	o.Accounts = 100_000
	if _, err := o.WriteBook(ctx, folder, ".gz", func(int) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("the press said %v", err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Errorf("%d files are left", len(entries))
	}
}
