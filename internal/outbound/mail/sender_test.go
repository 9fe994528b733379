package mail_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/outbound/mail"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/mailtest"
)

const (
	supplier = "NORTH"
	team     = "Team"
)

// onEach runs a test on both databases at once: most tests wait.
func onEach(t *testing.T, test func(*testing.T, *environment)) {
	for name, url := range dbtest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := sqlstore.Open(t.Context(), url(t), sqlstore.Options{ApplySchema: true, Connections: 8, AllowWeakDurability: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			err = store.Update(t.Context(), func(tx landfall.Tx) error {
				made := landfall.NewSupplier(supplier)
				made.Name, made.SendCustomerEmails = "Nørth & Sons", true
				if err := tx.CreateSupplier(t.Context(), made); err != nil {
					return err
				}
				return tx.CreateTeam(t.Context(), team)
			})
			if err != nil {
				t.Fatal(err)
			}
			test(t, &environment{t: t, store: store, server: mailtest.Start(t, "starttls")})
		})
	}
}

// environment is a store and a mail server for one test.
type environment struct {
	t      *testing.T
	store  *sqlstore.Store
	server *mailtest.Server
	log    lockedBuffer
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(part []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(part)
}

func (b *lockedBuffer) read() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// create imports an account whose customers have these addresses.
func (e *environment) create(external string, addresses ...string) string {
	e.t.Helper()
	key := landfall.Key{Supplier: supplier, External: external}
	document := fmt.Appendf(nil, `{"n":%q}`, external)
	if _, err := e.store.Stage(e.t.Context(), landfall.Staging{Key: key, Document: document, Hash: sha256.Sum256(document)}); err != nil {
		e.t.Fatal(err)
	}
	claimed, err := e.store.Claim(e.t.Context(), landfall.ClaimRequest{Key: key, Team: team, Lease: time.Minute})
	if err != nil || claimed.Verdict != landfall.ClaimGranted {
		e.t.Fatalf("%+v, %v", claimed, err)
	}
	on, _ := calendar.ParseDay("2026-01-01")
	creation := landfall.Creation{Claim: claimed.Claim, Account: landfall.Account{Periods: []landfall.Period{{FromOn: on}}}}
	for _, address := range addresses {
		creation.Account.Data.Customers = append(creation.Account.Data.Customers, landfall.Customer{GivenName: "Zoë", FamilyName: external, Email: address})
		creation.Mails = append(creation.Mails, landfall.Mail{Kind: landfall.MailMigrated, To: address})
	}
	made, err := e.store.Create(e.t.Context(), creation)
	if err != nil || made.Verdict != landfall.Created {
		e.t.Fatalf("%+v, %v", made, err)
	}
	return made.Number
}

// startSender starts a sender. The returned function stops it.
func (e *environment) startSender(change func(*mail.ClientOptions)) (*mail.Sender, context.CancelFunc) {
	e.t.Helper()
	pem, err := os.ReadFile(e.server.CAFile)
	if err != nil {
		e.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	options := mail.ClientOptions{
		Server: e.server.Address, Mode: mail.StartTLS, Roots: roots, User: mailtest.User, Password: mailtest.Password,
		Timeout: 2 * time.Second, FinalTimeout: time.Minute,
	}
	if change != nil {
		change(&options)
	}
	client, err := mail.NewClient(options)
	if err != nil {
		e.t.Fatal(err)
	}
	composer, err := mail.NewComposer(mail.BuiltinTemplates(), "Nørth <hello@north.example>", "")
	if err != nil {
		e.t.Fatal(err)
	}
	sender := mail.NewSender(mail.SenderOptions{
		Store: e.store, Composer: composer, Client: client, Timeout: options.Timeout, PerMinute: 60_000, Concurrent: 4,
		Log: slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		sender.Run(ctx)
		close(ended)
	}()
	stop := func() {
		cancel()
		<-ended
	}
	e.t.Cleanup(stop)
	return sender, stop
}

// states returns every mail by its address.
func (e *environment) states() map[string]landfall.MailRecord {
	e.t.Helper()
	found := map[string]landfall.MailRecord{}
	err := e.store.View(e.t.Context(), func(view landfall.View) error {
		mails, err := view.Mails(e.t.Context(), landfall.MailQuery{Limit: 1000})
		for _, mail := range mails {
			found[mail.To] = mail
		}
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// waitUntil waits for a condition.
func (e *environment) waitUntil(what string, holds func() bool) {
	e.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.t.Fatalf("timed out waiting until %s: %+v\n%s", what, e.states(), e.log.read())
		}
	}
}

// settled reports whether no mail is queued, except for one address.
func (e *environment) settled(except string) bool {
	for address, mail := range e.states() {
		if address != except && (mail.State == landfall.MailQueued || mail.State == landfall.MailSending) {
			return false
		}
	}
	return true
}

// TestServerReplies covers every way a mail server can reply. A mail must neither be
// sent twice nor be given up too early.
func TestServerReplies(t *testing.T) {
	mail.ShortenRetries(t)
	onEach(t, func(t *testing.T, e *environment) {
		addresses := []string{"ada@a.co", "nobody@a.co", "grey@a.co", "full@a.co", "hang@a.co", "cut@a.co", "mute@a.co", "spam@a.co", "bye@a.co", "añada@bücher.co"}
		number := e.create("1", addresses...)
		sender, stop := e.startSender(nil)
		e.waitUntil("all but the full one are settled", func() bool { return e.settled("full@a.co") })
		e.waitUntil("the full one was deferred", func() bool { return e.states()["full@a.co"].Attempts > 1 })
		stop()
		for address, want := range map[string]landfall.MailState{
			"ada@a.co": landfall.MailSent, "nobody@a.co": landfall.MailRefused, "grey@a.co": landfall.MailSent, "full@a.co": landfall.MailQueued,
			"hang@a.co": landfall.MailSent, "cut@a.co": landfall.MailSent, "mute@a.co": landfall.MailSent, "spam@a.co": landfall.MailRefused,
			"bye@a.co": landfall.MailSent, "añada@bücher.co": landfall.MailSent,
		} {
			if got := e.states()[address]; got.State != want {
				t.Errorf("%s is %+v, want %s", address, got, want)
			}
		}
		if got := e.states()["nobody@a.co"]; !strings.HasPrefix(got.Reply, "550 5.1.1 ") || got.MayHaveArrived() {
			t.Errorf("refused %+v", got)
		}
		received := map[string][]mailtest.Received{}
		for _, mail := range e.server.Mails() {
			received[mail.EnvelopeTo[0]] = append(received[mail.EnvelopeTo[0]], mail)
			// Python reports non-ASCII addresses (RFC 6532) as a defect.
			if len(mail.Defects) > 0 && mail.PlainLetters || !mail.TLS || mail.User != mailtest.User || !strings.Contains(mail.Text, number) || !strings.Contains(mail.HTML, "Hello Zoë 1,") ||
				mail.From != "Nørth <hello@north.example>" || mail.Subject != "Your Nørth & Sons account has moved" {
				t.Errorf("got %+v", mail)
			}
		}
		// Only the mail whose reply was lost arrived twice, with the same Message-ID.
		for address, count := range map[string]int{"ada@a.co": 1, "grey@a.co": 1, "hang@a.co": 1, "cut@a.co": 1, "mute@a.co": 2, "nobody@a.co": 0, "añada@xn--bcher-kva.co": 1} {
			if got := received[address]; len(got) != count || count == 2 && (got[0].MessageID != got[1].MessageID || got[0].Date != got[1].Date || got[0].Text != got[1].Text) {
				t.Errorf("%s got %d, want %d: %+v", address, len(got), count, got)
			}
		}
		if stats := &sender.Stats; stats.Sent.Load() != 7 || stats.Refused.Load() != 2 || stats.Unanswered.Load() < 1 || stats.Deferred.Load() < 4 {
			t.Errorf("stats %+v", stats)
		}
		if log := e.log.read(); strings.Contains(log, "a.co") || strings.Contains(log, "Zoë") || strings.Contains(log, "s3cret") {
			t.Errorf("the log contains personal data:\n%s", log)
		}
	})
}

// TestUnansweredMailIsGivenUp has a server that accepts a mail and never confirms it.
// The mail is sent three times, not for three days, and is marked as possibly read.
func TestUnansweredMailIsGivenUp(t *testing.T) {
	mail.ShortenRetries(t)
	onEach(t, func(t *testing.T, e *environment) {
		e.create("1", "deaf@a.co", "ada")
		_, stop := e.startSender(func(o *mail.ClientOptions) { o.Timeout = 20 * time.Second })
		e.waitUntil("it is given up", func() bool { return e.settled("") })
		stop()
		got, mails := e.states()["deaf@a.co"], e.server.Mails()
		if got.State != landfall.MailRefused || !got.MayHaveArrived() || !strings.HasPrefix(got.Reply, "given up after 3 attempts: ending the message") {
			t.Errorf("got %+v", got)
		}
		if len(mails) != 3 || mails[0].MessageID != mails[2].MessageID {
			t.Errorf("%d arrived: %+v", len(mails), mails)
		}
		if never := e.states()["ada"]; never.State != landfall.MailRefused || never.Reply != mail.ErrBadAddress.Error() || never.MayHaveArrived() {
			t.Errorf("got %+v", never)
		}
	})
}

// TestServerFailureIsNotCounted uses a wrong password. If such attempts counted, one
// wrong setting would give up all mails.
func TestServerFailureIsNotCounted(t *testing.T) {
	onEach(t, func(t *testing.T, e *environment) {
		for i := range 5 {
			e.create(fmt.Sprint(i), fmt.Sprintf("c%d@a.co", i))
		}
		sender, stop := e.startSender(func(o *mail.ClientOptions) { o.Password = "wrong" })
		e.waitUntil("the failure is known", func() bool { return sender.Stats.ServerFailures.Load() > 0 && !sender.Healthy() })
		time.Sleep(2 * time.Second)
		stop()
		if failures := sender.Stats.ServerFailures.Load(); failures > 8 {
			t.Errorf("a server that refuses the login was asked %d times", failures)
		}
		for address, mail := range e.states() {
			if mail.State != landfall.MailQueued || mail.Attempts != 0 || mail.MayHaveArrived() {
				t.Errorf("%s is %+v", address, mail)
			}
		}
		if log := e.log.read(); !strings.Contains(log, "mails stay queued") || strings.Contains(log, "wrong") {
			t.Errorf("the log says\n%s", log)
		}
		_, stop = e.startSender(nil)
		e.waitUntil("all are sent", func() bool { return e.settled("") })
		stop()
		if got := len(e.server.Mails()); got != 5 {
			t.Errorf("%d arrived", got)
		}
	})
}

// TestServerRestart restarts the mail server. A dead pooled session must not fail the
// mails that follow.
func TestServerRestart(t *testing.T) {
	onEach(t, func(t *testing.T, e *environment) {
		sender, _ := e.startSender(nil)
		e.create("1", "first@a.co")
		e.waitUntil("the first is sent", func() bool { return e.settled("") })
		e.server.Stop()
		e.create("2", "second@a.co")
		e.waitUntil("the failure is known", func() bool { return !sender.Healthy() })
		e.server.Restart()
		e.waitUntil("the second is sent", func() bool { return e.settled("") })
		if !sender.Healthy() || len(e.server.Mails()) != 2 {
			t.Errorf("healthy %v, %d arrived", sender.Healthy(), len(e.server.Mails()))
		}
	})
}

// TestReplicasSendEachMailOnce lets three replicas send at the same time.
func TestReplicasSendEachMailOnce(t *testing.T) {
	onEach(t, func(t *testing.T, e *environment) {
		const count = 60
		for i := range count {
			e.create(fmt.Sprint(i), fmt.Sprintf("c%d@a.co", i))
		}
		for range 3 {
			e.startSender(nil)
		}
		e.waitUntil("all are sent", func() bool { return e.settled("") })
		seen := map[string]int{}
		for _, mail := range e.server.Mails() {
			seen[mail.MessageID]++
			if seen[mail.MessageID] > 1 {
				t.Errorf("%s came again", mail.MessageID)
			}
		}
		if len(seen) != count {
			t.Errorf("%d arrived", len(seen))
		}
	})
}

// TestErasureDuringAMail erases an account while the mail server has its message and
// has not answered yet. The late answer names the address; it must not be stored.
func TestErasureDuringAMail(t *testing.T) {
	onEach(t, func(t *testing.T, e *environment) {
		const address = "late@a.co"
		received, answer := make(chan struct{}), make(chan struct{})
		fake := mailtest.Fake(t, func(connection net.Conn) {
			lines := bufio.NewScanner(connection)
			say := func(text string) { _, _ = io.WriteString(connection, text+"\r\n") }
			say("220 mail")
			for inMessage := false; lines.Scan(); {
				switch command := lines.Text(); {
				case inMessage && command != ".":
				case inMessage:
					close(received)
					<-answer
					inMessage = false
					say("250 2.0.0 delivered to <" + address + ">")
				case strings.HasPrefix(command, "EHLO"):
					say("250-mail\r\n250 8BITMIME")
				case command == "DATA":
					inMessage = true
					say("354 go on")
				case command == "QUIT":
					say("221 bye")
					return
				default:
					say("250 ok")
				}
			}
		})
		e.create("1", address)
		sender, stop := e.startSender(func(o *mail.ClientOptions) {
			o.Server, o.Mode, o.User, o.Password = fake, mail.NoTLS, "", ""
		})
		<-received
		err := e.store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), landfall.Key{Supplier: supplier, External: "1"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		close(answer)
		e.waitUntil("the mail is settled", func() bool { return sender.Stats.Sent.Load() == 1 })
		stop()
		for address, mail := range e.states() {
			if mail.State != landfall.MailSent || mail.Reply != "" || !mail.RecipientRemoved || strings.Contains(address, "a.co") {
				t.Errorf("the erased account has %+v", mail)
			}
		}
	})
}
