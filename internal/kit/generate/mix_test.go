package generate_test

import (
	"context"
	"reflect"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/generate"
)

// outcome is everything computed from an account.
type outcome struct {
	data    landfall.AccountData
	verdict contract.Verdict
	figures landfall.Figures
}

func outcomeOf(t *testing.T, body []byte) (outcome, *contract.Account) {
	account, err := contract.ReadAccount(context.Background(), body)
	if err != nil {
		t.Error(err)
		return outcome{}, nil
	}
	return outcome{account.Data(), account.Check(north(), now), account.Figures("GBP")}, account
}

// TestAccountsDoNotMix reads many accounts at once, valid and invalid ones, in reused memory. Each
// must give the same result as by itself.
func TestAccountsDoNotMix(t *testing.T) {
	const accounts, workers, rounds = 200, 8, 3
	book := order(generate.Fault{Kind: "balance", Share: 0.2}, generate.Fault{Kind: "field", Share: 0.1}, generate.Fault{Kind: "email", Share: 0.1})
	bodies, alone := make([][]byte, accounts), make([]outcome, accounts)
	for i := range bodies {
		bodies[i] = book.Draw(i).Account
		alone[i], _ = outcomeOf(t, bodies[i]) // never released
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			kept := make(map[int]outcome, accounts)
			for i := range accounts * rounds {
				index := (i*7 + worker*31) % accounts
				got, account := outcomeOf(t, bodies[index])
				if account == nil {
					return
				}
				account.Release()
				kept[index] = got
			}
			for index, got := range kept {
				if !reflect.DeepEqual(got, alone[index]) {
					t.Errorf("account %d is %+v, by itself it is %+v", index, got, alone[index])
				}
			}
		})
	}
	group.Wait()
}
