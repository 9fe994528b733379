package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// An organisation that sent only long bodies used to take all processors:
// another one got a hundredth of its usual throughput.
func TestLongBodiesYieldProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work = 100 * time.Millisecond
		api := &API{
			requests: newRequestLimiter(DefaultMaxInFlight),
			long:     admission.NewLimiter(admission.Limits{Capacity: 4, Share: 2, Wait: time.Hour, Refusal: errBusy}),
		}
		var busy atomic.Int64 // total time that processors were busy
		send := func(organisation string) {
			free, err := api.enterLarge(t.Context(), organisation)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(work)
			busy.Add(int64(work))
			free()
		}
		spent := func(bodies int) time.Duration {
			began := time.Now()
			busy.Store(0)
			done := make(chan struct{})
			for range bodies {
				go func() { send("Greedy"); done <- struct{}{} }()
			}
			for range bodies {
				<-done
			}
			return time.Since(began)
		}
		// Alone, it uses its share of the processors all the time.
		if took := spent(20); took != 20*work/2 {
			t.Errorf("alone: %s", took)
		}
		// While another organisation is active, it leaves most of its share unused.
		leave, err := api.requests.Acquire(t.Context(), admission.Request{Tenant: "Modest"})
		if err != nil {
			t.Fatal(err)
		}
		took := spent(20)
		if share := float64(busy.Load()) / float64(2*took); share > 1.0/longBodyRest {
			t.Errorf("beside another it took %.2f of its share of the processors", share)
		}
		leave()
		time.Sleep(limits.LongBodyRest)
		if left, _ := api.long.Usage(); left != 0 {
			t.Errorf("%d turns were never given back", left)
		}
	})
}

// peeking calls look when the response is written.
type peeking struct {
	*httptest.ResponseRecorder
	look func()
}

func (p *peeking) Write(data []byte) (int, error) {
	p.look()
	return p.ResponseRecorder.Write(data)
}

// A long body used to keep its slot while its response was written: a few slow
// readers would have blocked everyone's long bodies.
func TestSlowReadersHoldNoSlot(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open()
		body := `{"import_supplier":"OURS","external_account_number":"1","customers":[{"family_name":"A"}],"notes":[{"body":"` +
			strings.Repeat("long ", 3000) + `"},{"body":"` + strings.Repeat("word ", 3999) + `"}]}`
		if len(body) <= largeBody {
			t.Fatalf("%d bytes are not long", len(body))
		}
		request := httptest.NewRequest(http.MethodPost, "/v1/data-import/validate-account/", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Token "+h.tokens["importer"])
		written := false
		answer := &peeking{httptest.NewRecorder(), func() {
			written = true
			for name, gate := range map[string]*admission.Limiter{"long": h.api.long, "all": h.api.requests} {
				if held, _ := gate.Usage(); held != 0 {
					t.Errorf("%s: %d turns are held while the answer is written", name, held)
				}
			}
		}}
		h.api.ServeHTTP(answer, request)
		if answer.Code != http.StatusOK || !written {
			t.Errorf("answered %d: %s", answer.Code, answer.Body)
		}
	})
}
