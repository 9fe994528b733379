package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"
)

// vendorCallers is the number of clients that wait for the vendor.
const vendorCallers = 200

// measureSlowVendor compares staging while a payment vendor takes ten seconds
// for every response with staging while the vendor is not called.
func measureSlowVendor(ctx context.Context, p plan, m *harness) (measured, error) {
	// Release the handlers at the end: the server cannot be closed while they
	// wait.
	over := make(chan struct{})
	vendor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(10 * time.Second):
		case <-r.Context().Done():
		case <-over:
		}
	}))
	defer vendor.Close()
	defer close(over)
	if err := os.Setenv("VENDOR_BENCH_KEY", "not-a-secret"); err != nil {
		return measured{}, err
	}
	database, err := m.freshPostgres(ctx, "vendor")
	if err != nil {
		return measured{}, err
	}
	s, err := m.startWithAccounts(ctx, database)
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	if _, err := m.tell(ctx, "vendor", "set", "SLOW", "--adapter", "json", "--base-url", vendor.URL, "--allow-network", "127.0.0.0/8",
		"--secret-env", "VENDOR_BENCH_KEY", "--setting", "types=CARD", "--database", database); err != nil {
		return measured{}, err
	}
	numbers := &counter{}
	// After the existing accounts, so that every staging is a new one.
	numbers.last.Store(postedAccounts)
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			waiting, stop := context.WithCancel(ctx)
			var callers sync.WaitGroup
			for i := range vendorCallers {
				callers.Go(func() { s.askVendor(waiting, i) })
			}
			defer callers.Wait()
			defer stop()
			return s.load(stagePath, numbers.account).run(ctx, p.length)
		},
		func() (sample, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) })
	return measured{
		ratio: ratio, ours: ours.of("staged"),
		raw: raw.of(fmt.Sprintf("staged without %d callers at the vendor", vendorCallers)),
	}, err
}

// askVendor posts one payment instruction after the other, a second apart. The
// responses are refusals and do not matter.
func (s *service) askVendor(ctx context.Context, caller int) {
	for ctx.Err() == nil {
		body := fmt.Sprintf(`{"import_supplier":%q,"external_account_number":"EXT-%d","vendor":"SLOW","reference":"r-%d","type":"CARD"}`,
			supplier, int64(accountOffset)+int64(caller)+1, caller)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost,
			"http://"+s.address+"/v1/data-import/payment-instruction/create/", strings.NewReader(body))
		if err != nil {
			return
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Token "+s.token)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
