package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/test/tooltest"
)

// trustLocalProxy believes what a proxy on this machine reports.
func trustLocalProxy(settings *app.Settings) {
	settings.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
}

// from makes a browser come from an address by TLS, through a known proxy.
func (b *visitor) from(address string) *visitor {
	b.header.Set("X-Forwarded-For", address)
	b.header.Set("X-Forwarded-Proto", "https")
	return b
}

// secureJar keeps the cookies of TLS over the plain connection to the server, as the
// proxy's browser would.
type secureJar struct {
	mu      sync.Mutex
	cookies map[string]*http.Cookie
}

func (j *secureJar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cookie := range cookies {
		if cookie.MaxAge < 0 {
			delete(j.cookies, cookie.Name)
		} else {
			j.cookies[cookie.Name] = &http.Cookie{Name: cookie.Name, Value: cookie.Value}
		}
	}
}

func (j *secureJar) Cookies(*url.URL) (cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cookie := range j.cookies {
		cookies = append(cookies, cookie)
	}
	return cookies
}

// Sign-ins from many addresses kept an operator out who is known at her address.
func TestManySignInsKeptAKnownOperatorOut(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, trustLocalProxy)
		link, err := w.operator.CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
		if err != nil {
			t.Fatal(err)
		}
		laptop := &secureJar{cookies: map[string]*http.Cookie{}}
		ada := w.browser(t).from("203.0.113.7")
		ada.client.Jar = laptop
		if status, body := ada.post("welcome/"+link.Reveal()+"/", url.Values{"password": {goodPassword}, "again": {goodPassword}}); status != http.StatusOK {
			t.Fatalf("%d\n%s", status, body)
		}
		ada.post("sign-out/", nil)
		flood, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for i := range 220 {
			others.Go(func() {
				client := &http.Client{}
				for round := 0; flood.Err() == nil; round++ {
					name := []string{"ada", fmt.Sprintf("name-%d-%d", i, round)}[i%2]
					request, _ := http.NewRequestWithContext(flood, http.MethodPost, w.server.URL+"/console/sign-in/", strings.NewReader("name="+name+"&password=guess"))
					request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", i, round%250))
					request.Header.Set("X-Forwarded-Proto", "https")
					if response, err := client.Do(request); err == nil {
						response.Body.Close()
					}
				}
			})
		}
		defer others.Wait()
		defer stop()
		for w.metrics(t)["landfall_console_sign_ins_slowed_total"] == 0 { // until there are too many
			time.Sleep(10 * time.Millisecond)
		}
		// At her address with another browser, and elsewhere with her own.
		elsewhere := w.browser(t).from("192.0.2.99")
		elsewhere.client.Jar = laptop
		for where, known := range map[string]*visitor{"at her address": w.browser(t).from("203.0.113.7"), "with her browser": elsewhere} {
			if where == "at her address" {
				known.client.Jar = &secureJar{cookies: map[string]*http.Cookie{}}
			}
			began := time.Now()
			if !known.signIn("ada", goodPassword, "") {
				t.Errorf("ada cannot sign in %s", where)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("ada waited %s %s", took, where)
			}
		}
	})
}

// A name or a path with a NUL or with bytes that are no UTF-8 was an internal error.
func TestUnstorableTextWasAnInternalError(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		var log lockedBuffer
		w := newLoggedWorld(t, database, nil, &log)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		for _, b := range []*visitor{w.browser(t), ada} {
			for _, bad := range []string{"a%00b", "a%ffb", "%c3%28"} {
				text, _ := url.PathUnescape(bad)
				for _, path := range []string{"sign-in/", "theme/", "admin/teams/", "welcome/x/"} {
					if b != ada && path == "admin/teams/" {
						continue // it leads to the sign-in page
					}
					if status, body := b.post(path, url.Values{"name": {text}, "password": {text}, "to": {text}}); status < 400 || status >= 500 {
						t.Errorf("POST %s with %s: %d\n%.300s", path, bad, status, body)
					}
				}
				for _, path := range []string{"suppliers/%s/", "runs/%s/", "accounts/NORTH/%s/", "accounts/%s/", "welcome/%s/", "%s", "search/?q=%s", "admin/audit/?subject=%s", "sign-in/?to=%s"} {
					if status, body := b.get(fmt.Sprintf(path, bad)); status >= 500 || status == http.StatusOK && b == ada {
						t.Errorf("GET %s with %s: %d\n%.300s", path, bad, status, body)
					}
				}
			}
		}
		if strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("the log has errors:\n%s", log.String())
		}
	})
}

// Every new time zone in a cookie made the views be parsed again, under a lock that
// every page needs.
func TestRotatingZonesSlowedEverybody(t *testing.T) {
	w := newWorld(t, databases["sqlite"](t), nil)
	zones := []string{}
	for place := range strings.FieldsSeq(`Africa/Abidjan Africa/Accra Africa/Cairo Africa/Lagos Africa/Nairobi Africa/Tunis America/Adak America/Bogota
		America/Chicago America/Denver America/Lima America/Nome America/Panama America/Regina Asia/Aden Asia/Amman Asia/Baku Asia/Dhaka Asia/Dubai Asia/Gaza
		Asia/Hebron Asia/Kabul Asia/Macau Asia/Qatar Asia/Seoul Asia/Tokyo Australia/Perth Europe/Athens Europe/Berlin Europe/Kyiv Europe/Lisbon Europe/Malta
		Europe/Minsk Europe/Oslo Europe/Paris Europe/Prague Europe/Riga Europe/Rome Europe/Samara Europe/Sofia Pacific/Apia Pacific/Auckland Pacific/Fiji
		Pacific/Guam Pacific/Niue Pacific/Palau Pacific/Tahiti Pacific/Wake`) {
		zones = append(zones, place)
	}
	read := func(zone string) time.Duration {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/console/sign-in/", nil)
		request.AddCookie(&http.Cookie{Name: "landfall_zone", Value: zone})
		began := time.Now()
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return time.Since(began)
	}
	median := func(zone func(int) string) time.Duration {
		var took []time.Duration
		for i := range 200 {
			took = append(took, read(zone(i)))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	read("UTC")
	same := median(func(int) string { return "UTC" })
	rotating := median(func(i int) string { return zones[i%len(zones)] })
	t.Logf("one zone %s, rotating zones %s", same, rotating)
	if rotating > 4*same+2*time.Millisecond {
		t.Errorf("a page takes %s with rotating zones and %s with one", rotating, same)
	}
}

// A page that updates itself kept its session from ever being idle.
func TestLivePageKeptASessionAlive(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		const old = `UPDATE operator_session SET seen_at = seen_at - 600000000`
		seen := func() time.Time {
			var sessions []landfall.Session
			if err := w.application.Store().View(t.Context(), func(view landfall.View) (err error) {
				sessions, err = view.Sessions(t.Context(), "ada", 24*time.Hour)
				return err
			}); err != nil || len(sessions) != 1 {
				t.Fatal(sessions, err)
			}
			return sessions[0].SeenAt
		}
		w.execute(t, old)
		before := seen()
		for _, path := range []string{"live?once=1", "suppliers/NORTH/live?once=1"} {
			if status, body := ada.get(path); status != http.StatusOK {
				t.Fatalf("%s: %d\n%s", path, status, body)
			}
		}
		stream, stop := context.WithCancel(t.Context())
		request, _ := http.NewRequestWithContext(stream, http.MethodGet, w.server.URL+"/console/live", nil)
		response, err := ada.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		// Long enough for a check of the session.
		time.AfterFunc(1500*time.Millisecond, stop)
		for buffer := make([]byte, 4096); err == nil; {
			_, err = response.Body.Read(buffer)
		}
		response.Body.Close()
		if now := seen(); !now.Equal(before) {
			t.Errorf("a live page moved the last use from %s to %s", before, now)
		}
		if ada.get(""); !seen().After(before) {
			t.Error("an opened page does not count as use")
		}
	})
}

// The cookie of a session that was signed out worked for another half second.
func TestSignedOutCookieWorkedForAMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		home, _ := url.Parse(w.server.URL)
		copied := ada.client.Jar.Cookies(home)
		ada.get("") // it is cached now, if it ever is
		ada.post("sign-out/", nil)
		thief := w.browser(t)
		thief.client.Jar.SetCookies(home, copied)
		if _, body := thief.get("me/"); strings.Contains(body, "Sign out") {
			t.Error("the cookie works after signing out")
		}
	})
}

// Behind a proxy on the same machine that nobody configured, everybody counted as this
// machine and could use the console without TLS.
func TestUnknownProxyCountedAsThisMachine(t *testing.T) {
	w := newWorld(t, databases["sqlite"](t), nil)
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host", "Via"} {
		b := w.browser(t)
		b.header.Set(header, "203.0.113.9")
		if status, body := b.get("sign-in/"); status != http.StatusForbidden {
			t.Errorf("with %s: %d\n%.200s", header, status, body)
		}
	}
	if status, body := w.browser(t).get("sign-in/"); status != http.StatusOK {
		t.Errorf("from this machine: %d\n%.200s", status, body)
	}
}
