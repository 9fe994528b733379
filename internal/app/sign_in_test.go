package app_test

import (
	"crypto/hmac"
	"crypto/sha1" // RFC 6238
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/service/operate"
	"landfall/internal/test/mailtest"
)

// goodPassword is accepted for every operator.
const goodPassword = "correct horse battery staple"

// visitor is somebody who uses the console of a world.
type visitor struct {
	t      *testing.T
	world  *world
	client *http.Client
	header http.Header // sent with every request
}

func (w *world) browser(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, world: w, client: &http.Client{Jar: jar, Timeout: time.Minute}, header: http.Header{}}
}

// operatorBrowser returns the browser of a new operator who has chosen a password.
func (w *world) operatorBrowser(t *testing.T, name string, role landfall.OperatorRole) *visitor {
	t.Helper()
	link, err := w.operator.CreateOperator(t.Context(), name, role)
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser(t)
	if status, body := b.post("welcome/"+link.Reveal()+"/", url.Values{"password": {goodPassword}, "again": {goodPassword}}); status != http.StatusOK {
		t.Fatalf("%s cannot choose a password: %d\n%s", name, status, body)
	}
	return b
}

func (b *visitor) get(path string) (int, string) {
	b.t.Helper()
	return b.send(http.MethodGet, path, nil)
}

func (b *visitor) post(path string, form url.Values) (int, string) {
	b.t.Helper()
	return b.send(http.MethodPost, path, form)
}

// send sends a request to a path below /console/ and follows redirects.
func (b *visitor) send(method, path string, form url.Values) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.world.server.URL+"/console/"+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	maps.Copy(request.Header, b.header)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// signIn signs in and reports whether it worked.
func (b *visitor) signIn(name, password, code string) bool {
	b.t.Helper()
	status, body := b.post("sign-in/", url.Values{"name": {name}, "password": {password}, "code": {code}})
	return status == http.StatusOK && strings.Contains(body, "Sign out")
}

// findOperator returns an operator as it is stored.
func (w *world) findOperator(t *testing.T, name string) (found landfall.Operator) {
	t.Helper()
	if err := w.application.Store().View(t.Context(), func(view landfall.View) (err error) {
		found, err = view.Operator(t.Context(), name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// audited returns the audit entries of an action, newest first.
func (w *world) audited(t *testing.T, action string) (entries []landfall.AuditEntry) {
	t.Helper()
	for link, err := range w.operator.Audit(t.Context(), operate.AuditFilter{Action: action}) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, link.AuditEntry)
	}
	return entries
}

// waitAudited waits for an audit entry of an action that is written in the background.
func (w *world) waitAudited(t *testing.T, action string) []landfall.AuditEntry {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if entries := w.audited(t, action); len(entries) > 0 {
			return entries
		} else if time.Now().After(end) {
			t.Fatalf("the audit has no %s", action)
		}
	}
}

// totp computes the code of a secret, some steps of 30 seconds from now.
func totp(t *testing.T, secret string, steps int64) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha1.New, key)
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30+steps))) // positive
	hash := sum.Sum(nil)
	offset := hash[len(hash)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(hash[offset:])&0x7fffffff%1_000_000)
}

var shownSecret = regexp.MustCompile(`<code class="secret">([A-Z2-7]{32,})</code>`)

// startSecondFactor asks for a secret, which the server makes.
func (b *visitor) startSecondFactor(form url.Values) string {
	b.t.Helper()
	status, body := b.post("me/second/", form)
	shown := shownSecret.FindStringSubmatch(body)
	if status != http.StatusOK || shown == nil {
		b.t.Fatalf("no secret: %d\n%s", status, body)
	}
	return shown[1]
}

// A session alone could replace or remove the second factor, with a secret that the
// browser chose, even an empty one.
func TestSessionAloneChangedTheSecondFactor(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		chosen := "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
		for what, form := range map[string]url.Values{
			"the browser's secret": {"secret": {chosen}, "code": {totp(t, chosen, 0)}}, "an empty secret": {"secret": {""}, "code": {totp(t, "", 0)}},
			"a secret of 8 bits": {"secret": {"AA"}, "code": {totp(t, "AA", 0)}}, "a wrong password": {"password": {"not the one at all"}},
		} {
			for _, path := range []string{"me/second/", "me/second/confirm/"} {
				ada.post(path, form)
				if found := w.findOperator(t, "ada"); found.TOTPSecret != "" {
					t.Fatalf("%s turned the second factor on with %s", path, what)
				}
			}
		}
		if entries := w.audited(t, "operator.second_factor"); len(entries) != 0 {
			t.Errorf("the audit has %+v", entries)
		}

		ada = w.browser(t) // a new session has its attempts left
		if !ada.signIn("ada", goodPassword, "") {
			t.Fatal("cannot sign in")
		}
		secret := ada.startSecondFactor(url.Values{"password": {goodPassword}})
		if status, _ := ada.post("me/second/confirm/", url.Values{"code": {totp(t, secret, 5)}}); status == http.StatusOK || w.findOperator(t, "ada").TOTPSecret != "" {
			t.Error("the second factor is on without a code of its secret")
		}
		status, body := ada.post("me/second/confirm/", url.Values{"code": {totp(t, secret, -1)}})
		if status != http.StatusOK || w.findOperator(t, "ada").TOTPSecret != secret {
			t.Fatalf("the second factor is off: %d\n%s", status, body)
		}
		recovery := regexp.MustCompile(`<code>([0-9a-z]{4}(?:-[0-9a-z]{4}){3})</code>`).FindAllStringSubmatch(body, -1)
		if len(recovery) != 10 {
			t.Fatalf("%d recovery codes\n%s", len(recovery), body)
		}

		// It is on now: neither replaced nor removed with less than password and code.
		thief := w.browser(t)
		if !thief.signIn("ada", goodPassword, recovery[9][1]) {
			t.Fatal("cannot sign in")
		}
		for what, form := range map[string]url.Values{
			"the password": {"password": {goodPassword}}, "the code": {"code": {totp(t, secret, 0)}},
			"a wrong code": {"password": {goodPassword}, "code": {totp(t, secret, 5)}},
		} {
			for _, path := range []string{"me/second/", "me/second/off/", "me/second/recovery/"} {
				if status, body := thief.post(path, form); status != http.StatusBadRequest {
					t.Errorf("%s with %s: %d\n%s", path, what, status, body)
				}
			}
		}
		if found := w.findOperator(t, "ada"); found.TOTPSecret != secret {
			t.Fatal("the second factor has changed")
		}
		again := w.browser(t)
		if again.signIn("ada", goodPassword, "") || again.signIn("ada", goodPassword, totp(t, secret, 5)) {
			t.Error("signed in without a code")
		}
		if !again.signIn("ada", goodPassword, recovery[0][1]) || w.browser(t).signIn("ada", goodPassword, recovery[0][1]) {
			t.Error("a recovery code does not work exactly once")
		}
		next := again.startSecondFactor(url.Values{"password": {goodPassword}, "code": {totp(t, secret, 0)}})
		if next == secret {
			t.Fatal("the new secret is the old one")
		}
		if status, body := ada.post("me/second/confirm/", url.Values{"code": {totp(t, next, 0)}}); status == http.StatusOK {
			t.Errorf("another session confirmed it: %d\n%s", status, body)
		}
		if status, body := again.post("me/second/confirm/", url.Values{"code": {totp(t, next, 0)}}); status != http.StatusOK {
			t.Fatalf("%d\n%s", status, body)
		}
		if status, body := again.post("me/second/off/", url.Values{"password": {goodPassword}, "code": {totp(t, next, 1)}}); status != http.StatusOK {
			t.Fatalf("%d\n%s", status, body)
		}
		var details []string
		for _, entry := range w.audited(t, "operator.second_factor") {
			details = append(details, entry.Detail)
		}
		if got := strings.Join(details, "; "); got != "off; replaced; on" {
			t.Errorf("the audit says %s", got)
		}
	})
}

// Resetting a sign-in showed the link to whoever clicked, who then became the other
// operator.
func TestResetShowedTheLinkToWhoeverClicked(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada, sam := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator), w.operatorBrowser(t, "sam", landfall.ConsoleSupport)
		for what, form := range map[string]url.Values{
			"one click": nil, "the name only": {"confirm": {"sam"}}, "a wrong name": {"confirm": {"sma"}, "password": {goodPassword}},
			"a wrong password": {"confirm": {"sam"}, "password": {"not the one at all"}},
		} {
			if status, body := ada.post("admin/operators/sam/reset/", form); status == http.StatusOK || strings.Contains(body, "/console/welcome/") {
				t.Errorf("%s resets: %d\n%s", what, status, body)
			}
		}
		if status, _ := sam.get("me/"); status != http.StatusOK || w.findOperator(t, "sam").Password == "" {
			t.Error("a refused reset took effect")
		}
		status, body := ada.post("admin/operators/sam/reset/", url.Values{"confirm": {"sam"}, "password": {goodPassword}})
		if status != http.StatusOK || strings.Contains(body, "/console/welcome/") {
			t.Errorf("the reset shows the link: %d\n%s", status, body)
		}
		if found := w.findOperator(t, "sam"); found.Password != "" || found.Invited() {
			t.Error("sam's password still works, or there is a link")
		}
		if _, body := sam.get("me/"); strings.Contains(body, "Sign out") {
			t.Error("sam is still signed in")
		}
		if entries := w.audited(t, "operator.reset"); len(entries) != 1 || entries[0].Actor != "operator:ada" || entries[0].Subject != "sam" || entries[0].Source == "" {
			t.Errorf("the audit has %+v", entries)
		}
		// The link from the command line does not work in somebody else's session.
		link, err := w.operator.ResetOperator(t.Context(), "sam")
		if err != nil {
			t.Fatal(err)
		}
		if _, body := w.browser(t).get("welcome/" + link.Reveal() + "/"); !strings.Contains(body, "reset, by ada and test") {
			t.Errorf("sam is not told who reset the sign-in:\n%s", body)
		}
		form := url.Values{"password": {"another long password"}, "again": {"another long password"}}
		if status, body := ada.post("welcome/"+link.Reveal()+"/", form); status == http.StatusOK || w.findOperator(t, "sam").Password != "" {
			t.Errorf("ada used the link of sam: %d\n%s", status, body)
		}
		back := w.browser(t)
		if status, body := back.post("welcome/"+link.Reveal()+"/", form); status != http.StatusOK || !strings.Contains(body, "Your sign-in was reset by ada and test on ") {
			t.Errorf("sam cannot use the link, or is not told about the reset: %d\n%s", status, body)
		}
		again := w.browser(t)
		if !again.signIn("sam", "another long password", "") {
			t.Error("sam cannot sign in")
		}
		if _, body := again.get(""); strings.Contains(body, "was reset") {
			t.Error("sam is told twice")
		}
	})
}

// A person whose name is an address gets an e-mail about a reset.
func TestResetIsToldByMail(t *testing.T) {
	mails := mailtest.Start(t, "plain")
	w := newWorld(t, databases["sqlite"](t), func(settings *app.Settings) {
		settings.Mail.Server, settings.Mail.TLS, settings.Mail.From = mails.Address, "none", "us@landfall.example"
	})
	ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
	w.operatorBrowser(t, "sam@example.com", landfall.ConsoleSupport)
	form := url.Values{"confirm": {"sam@example.com"}, "password": {goodPassword}}
	if status, body := ada.post("admin/operators/sam@example.com/reset/", form); status != http.StatusOK || !strings.Contains(body, "They were told by e-mail") {
		t.Fatalf("%d\n%s", status, body)
	}
	received := mails.Mails()
	if len(received) != 1 || !slices.Contains(received[0].EnvelopeTo, "sam@example.com") || !strings.Contains(received[0].Text, "was reset by ada") {
		t.Errorf("received %+v", received)
	}
}

// A refused sign-in was in no log, audit or metric.
func TestRefusedSignInsLeftNoTrace(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		var log lockedBuffer
		w := newLoggedWorld(t, database, nil, &log)
		w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		guesser := w.browser(t)
		const typed = "a-password-typed-as-name"
		for i := range 40 {
			guesser.signIn("ada", fmt.Sprintf("guess number %d", i), "")
			guesser.signIn(fmt.Sprintf("%s-%d", typed, i), "a wrong password", "")
		}
		entries := w.waitAudited(t, "session.refuse")
		if len(entries) > 6 {
			t.Errorf("80 attempts wrote %d entries", len(entries))
		}
		about := map[string]bool{}
		for _, entry := range entries {
			about[entry.Subject] = true
			if entry.Actor != "service" || entry.Source != "127.0.0.1" || strings.Contains(entry.Subject+entry.Detail, typed) {
				t.Errorf("%+v", entry)
			}
		}
		if !about["ada"] {
			t.Errorf("nothing about ada: %+v", entries)
		}
		if text := log.String(); !strings.Contains(text, `msg="console sign-in refused"`) || !strings.Contains(text, "operator=ada") || strings.Contains(text, typed) {
			t.Errorf("the log says\n%s", text)
		}
		metrics := w.metrics(t)
		if refused, slowed := metrics["landfall_console_sign_ins_refused_total"], metrics["landfall_console_sign_ins_slowed_total"]; refused == 0 || refused+slowed != 80 {
			t.Errorf("%v refused, %v slowed", refused, slowed)
		}
	})
}

// Passwords such as password1234 were accepted.
func TestCommonPasswordsWereAccepted(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		link, err := w.operator.CreateOperator(t.Context(), "adalovelace", landfall.ConsoleAdministrator)
		if err != nil {
			t.Fatal(err)
		}
		for _, password := range []string{
			"password1234", "Password1234!", "qwertyuiop12", "123456789012", "aaaaaaaaaaaa", "letmein12345", "p@ssw0rd2026", "adalovelace1", "landfall1234", "abcdefghijkl",
		} {
			status, _ := w.browser(t).post("welcome/"+link.Reveal()+"/", url.Values{"password": {password}, "again": {password}})
			if status != http.StatusBadRequest || w.findOperator(t, "adalovelace").Password != "" {
				t.Fatalf("%s was accepted: %d", password, status)
			}
		}
	})
}

// A second factor could not be made compulsory.
func TestSecondFactorCouldNotBeCompulsory(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, requireSecondFactor)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		for _, path := range []string{"", "suppliers/NORTH/", "admin/operators/", "live?once=1"} {
			if _, body := ada.get(path); strings.Contains(body, "NORTH") || !strings.Contains(body, "me/second/") {
				t.Errorf("%s without a second factor:\n%s", path, body)
			}
		}
		if ada.post("admin/teams/", url.Values{"name": {"Night"}}); len(w.audited(t, "team.create")) != 1 {
			t.Error("ada acted without a second factor")
		}
		secret := ada.startSecondFactor(url.Values{"password": {goodPassword}})
		ada.post("me/second/confirm/", url.Values{"code": {totp(t, secret, 0)}})
		if _, body := ada.get(""); !strings.Contains(body, "NORTH") {
			t.Errorf("with a second factor:\n%s", body)
		}
		if status, _ := ada.post("me/second/off/", url.Values{"password": {goodPassword}, "code": {totp(t, secret, 1)}}); status == http.StatusOK || w.findOperator(t, "ada").TOTPSecret == "" {
			t.Error("a compulsory second factor was turned off")
		}
	})
}

// Whoever knew the password could try 8640 codes a day.
func TestGuessingACodeTookTenSeconds(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		secret := ada.startSecondFactor(url.Values{"password": {goodPassword}})
		ada.post("me/second/confirm/", url.Values{"code": {totp(t, secret, -1)}})
		for range 5 {
			w.browser(t).signIn("ada", goodPassword, totp(t, secret, 7))
		}
		if w.browser(t).signIn("ada", goodPassword, totp(t, secret, 0)) {
			t.Error("a code is accepted right after five wrong ones")
		}
		// An hour later the pause is over, but the next wrong code starts a longer one.
		w.execute(t, `UPDATE operator SET totp_failed_at = totp_failed_at - 3600000000`)
		w.browser(t).signIn("ada", goodPassword, totp(t, secret, 7))
		w.execute(t, `UPDATE operator SET totp_failed_at = totp_failed_at - 100000000`)
		if w.browser(t).signIn("ada", goodPassword, totp(t, secret, 0)) {
			t.Error("the pause does not grow")
		}
		w.execute(t, `UPDATE operator SET totp_failed_at = totp_failed_at - 3600000000`)
		if !w.browser(t).signIn("ada", goodPassword, totp(t, secret, 0)) {
			t.Error("ada is locked out for good")
		}
	})
}

// The audit lacked the address of a sign-in and of a new password, and the request ids
// of everything done in the console.
func TestConsoleAuditLackedSourceAndRequestID(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
		ada.header.Set("X-Request-ID", "seen-by-the-proxy")
		ada.post("admin/teams/", url.Values{"name": {"Night"}})
		ada.post("me/password/", url.Values{"old": {goodPassword}, "password": {"another long password"}, "again": {"another long password"}})
		ada.post("sign-out/", nil)
		for action, id := range map[string]string{
			"session.start": "", "operator.password": "seen-by-the-proxy", "session.end": "seen-by-the-proxy", "team.create": "seen-by-the-proxy",
		} {
			entry := w.audited(t, action)[0]
			if entry.Actor != "operator:ada" || entry.Source != "127.0.0.1" || entry.RequestID == "" || id != "" && entry.RequestID != id {
				t.Errorf("%+v", entry)
			}
		}
	})
}

// requireSecondFactor makes a second factor compulsory.
func requireSecondFactor(settings *app.Settings) { settings.SecondFactor = true }

// A browser that opens the bare address is sent to the console. A program is not.
func TestBareAddressLeadsToTheConsole(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		b := newWorld(t, database, nil).browser(t)
		for accept, want := range map[string]string{"": "200 /", "application/json": "200 /", "text/html,*/*": "200 /console/sign-in/"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.world.server.URL+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", accept)
			response, err := b.client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if got := fmt.Sprint(response.StatusCode, " ", response.Request.URL.Path); got != want {
				t.Errorf("Accept %q: %s, want %s", accept, got, want)
			}
		}
	})
}
