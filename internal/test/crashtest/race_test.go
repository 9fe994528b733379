package crashtest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/test/crashtest"
)

// stage stages new accounts and returns their keys.
func (c *caller) stage(name string, accounts int) []landfall.Key {
	c.t.Helper()
	l, random := &load{name: name}, rand.New(rand.NewPCG(1, 2))
	keys := make([]landfall.Key, accounts)
	for i := range keys {
		keys[i] = landfall.Key{Supplier: supplier, External: fmt.Sprintf("%s-%03d", name, i)}
		answer, err := c.send(c.pick(random), l.staging(keys[i], random, creatable))
		if err != nil || answer.Status != http.StatusCreated {
			c.t.Fatalf("staging: %v %v", answer, err)
		}
	}
	return keys
}

// Many callers ask all replicas at once to create the same account.
func TestOneAccountFromManyCallers(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fleet) {
		c := &caller{fleet: f, history: &crashtest.History{}}
		for _, key := range c.stage("race", 4) {
			var callers sync.WaitGroup
			var mutex sync.Mutex
			start, answers := make(chan struct{}), map[string]int{}
			for i := range 64 {
				callers.Go(func() {
					<-start
					answer, err := c.send(f.replicas[i%len(f.replicas)].address(), crashtest.Intent{Verb: crashtest.Process, Key: key})
					if err != nil {
						t.Error(err)
					}
					mutex.Lock()
					defer mutex.Unlock()
					answers[fmt.Sprint(answer.Status, answer.Code)]++
				})
			}
			close(start)
			callers.Wait()
			others := answers["400"+landfall.CodeAlreadyImported] + answers["400"+landfall.CodeImportInProgress]
			if answers["201"] != 1 || others != 63 {
				t.Errorf("answers %v: want one creation and 63 refusals", answers)
			}
		}
		checkHistory(c, "race")
	})
}
