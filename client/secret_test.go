package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"landfall/client"
)

// TestARedirectTookTheKeyToAnotherHost redirects the login, a call and a bulk call to another
// server, which must see nothing. The error names the address, and nothing is retried.
func TestARedirectTookTheKeyToAnotherHost(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var stolen, calls atomic.Int32
		thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
		t.Cleanup(thief.Close)
		away := func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			http.Redirect(w, r, thief.URL+r.URL.Path, status)
		}
		_, called := newServer(t, away)
		login := httptest.NewServer(http.HandlerFunc(away))
		t.Cleanup(login.Close)
		atLogin, err := client.New(login.URL, client.WithKey("key"), client.WithHTTP(&http.Client{}))
		if err != nil {
			t.Fatal(err)
		}
		lines := func(yield func([]byte, error) bool) { yield([]byte(`{}`), nil) }
		for name, call := range map[string]func(context.Context) error{
			"login": func(ctx context.Context) error { _, err := atLogin.Token(ctx); return err },
			"call":  func(ctx context.Context) error { _, err := called.Validate(ctx, `{}`); return err },
			"bulk": func(ctx context.Context) (err error) {
				for _, failure := range called.Bulk(ctx, client.BulkValidate, url.Values{}, lines) {
					err = failure
				}
				return err
			},
		} {
			calls.Store(0)
			err := call(t.Context())
			if !client.IsCode(err, "redirected") || !strings.Contains(err.Error(), thief.URL) || calls.Load() != 1 {
				t.Errorf("%s, %d: %v after %d calls", name, status, err, calls.Load())
			}
		}
		if stolen.Load() != 0 {
			t.Errorf("%d: the other server was called %d times", status, stolen.Load())
		}
	}
}

// TestAKeyWentOutInClear names servers whose key anyone on the way could read.
func TestAKeyWentOutInClear(t *testing.T) {
	for address, allowed := range map[string]bool{
		"http://landfall.example": false, "http://10.0.0.7:8080": false, "http://[2001:db8::1]:8080": false, "http://127.0.0.1.example": false,
		"http://localhost.example": false, "http://0.0.0.0:8080": false, "HTTP://landfall.example": false,
		"http://127.0.0.1:8080": true, "http://127.8.8.8": true, "http://[::1]:8080": true, "http://localhost:8080": true, "https://landfall.example": true,
	} {
		_, err := client.New(address, client.WithKey("key"))
		if allowed != (err == nil) || !allowed && !errors.Is(err, client.ErrInsecure) {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := client.New(address, client.WithKey("key"), client.WithInsecure()); err != nil {
			t.Errorf("%s, insecure: %v", address, err)
		}
	}
}
