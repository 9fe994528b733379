package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

func TestListsAreBoundedPerOrganisationAndInTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTenantLimiter(limits.ListsEach, limits.ListsAll, errOwnLists, errAllLists)
		take := func(organisation string) (func(), error) {
			return s.Acquire(t.Context(), admission.Request{Tenant: organisation})
		}
		var frees []func()
		for range limits.ListsEach {
			free, err := take("ours")
			if err != nil {
				t.Fatal(err)
			}
			frees = append(frees, free)
		}
		began := time.Now()
		if _, err := take("ours"); !errors.Is(err, errOwnLists) || time.Since(began) != limitWait {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		if free, err := take("theirs"); err != nil {
			t.Errorf("another organisation is refused: %v", err)
		} else {
			free()
		}
		go func() { time.Sleep(time.Second); frees[0]() }()
		if _, err := take("ours"); err != nil {
			t.Errorf("after one was given back: %v", err)
		}
		for i := 0; inUse(s) < limits.ListsAll; i++ {
			if _, err := take(fmt.Sprint("organisation ", i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := take("one too many"); !errors.Is(err, errAllLists) {
			t.Errorf("got %v", err)
		}
	})
}

func inUse(l *admission.Limiter) int {
	used, _ := l.Usage()
	return int(used)
}

// A list ends if the client does not read it or its key is revoked.
func TestListsEndForRevokedOrSlowReaders(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(o *Options) { o.WriteTimeout = 200 * time.Millisecond })
		left := make(chan error, 1)
		h.withRoute("/endless/", func(a *API, _ context.Context, x *exchange) error {
			dropped := false
			err := a.streamed(x, entrySequence(1<<40, nil, &dropped))
			left <- err
			return err
		})
		dialled, err := net.Dial("tcp", h.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer dialled.Close()
		fmt.Fprint(dialled, "GET /endless/ HTTP/1.1\r\nHost: x\r\n\r\n")
		select {
		case err := <-left:
			if err == nil {
				t.Error("it ended well")
			}
		case <-time.After(soon):
			t.Error("a reader who does not read is waited for")
		}
		// The client used to be able to read the data in the buffers between them
		// for as long as it liked.
		for end := time.Now().Add(soon); h.hungUp.Load() == 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("he is not cut off")
			}
		}
		if got, err := io.Copy(io.Discard, dialled); !errors.Is(err, syscall.ECONNRESET) || got > 1<<20 {
			t.Errorf("after the end %d bytes came, and %v", got, err)
		}
	})
}

func TestRevokedKeyEndsARunningRequest(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open()
		id := h.addKey("leaver", "ours", landfall.RoleImporter)
		request, _ := http.NewRequest(http.MethodPost, stagePath, http.NoBody)
		request.Header.Set("Authorization", "Token "+h.tokens["leaver"])
		x := &exchange{request: request, route: h.api.tree.find(stagePath).routes[0]}
		if err := h.api.authenticate(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, id) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		x.authenticated = x.authenticated.Add(-authLifetime)
		if err := h.api.reauthenticate(ctx, x); err == nil {
			t.Error("a revoked key still works")
		}
		if authLifetime+writeTimeout >= 10*time.Second {
			t.Error("a list continues for more than ten seconds after the revocation")
		}
	})
}
