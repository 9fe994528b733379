package mail_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/outbound/letter"
	"landfall/internal/outbound/mail"
	"landfall/internal/outbound/smtp"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/mailtest"
	"landfall/internal/test/pgtest"
)

const (
	supplier = "NORTH"
	team     = "Team"
)

// onEach runs a test on both databases.
func onEach(t *testing.T, test func(*testing.T, *ground)) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "mail.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
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
			test(t, &ground{t: t, store: store, server: mailtest.Start(t, "starttls")})
		})
	}
}

type ground struct {
	t      *testing.T
	store  *sqlstore.Store
	server *mailtest.Server
	log    lockedBuffer
}

// lockedBuffer is a log that is read while it is written.
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

// create makes an account whose customers have addresses.
func (g *ground) create(external string, addresses ...string) string {
	g.t.Helper()
	key := landfall.Key{Supplier: supplier, External: external}
	document := fmt.Appendf(nil, `{"n":%q}`, external)
	if _, err := g.store.Stage(g.t.Context(), landfall.Staging{Key: key, Document: document, Hash: sha256.Sum256(document)}); err != nil {
		g.t.Fatal(err)
	}
	claimed, err := g.store.Claim(g.t.Context(), landfall.ClaimRequest{Key: key, Team: team, Lease: time.Minute})
	if err != nil || claimed.Verdict != landfall.ClaimGranted {
		g.t.Fatalf("%+v, %v", claimed, err)
	}
	on, _ := calendar.ParseDay("2026-01-01")
	creation := landfall.Creation{Claim: claimed.Claim, Account: landfall.Account{Periods: []landfall.Period{{FromOn: on}}}}
	for _, address := range addresses {
		creation.Account.Data.Customers = append(creation.Account.Data.Customers, landfall.Customer{GivenName: "Zoë", FamilyName: external, Email: address})
		creation.Mails = append(creation.Mails, landfall.Mail{Kind: landfall.MailMigrated, To: address})
	}
	made, err := g.store.Create(g.t.Context(), creation)
	if err != nil || made.Verdict != landfall.Created {
		g.t.Fatalf("%+v, %v", made, err)
	}
	return made.Number
}

// room opens a mailroom that sends until the function it gives is called.
func (g *ground) room(change func(*smtp.Options)) (*mail.Room, context.CancelFunc) {
	g.t.Helper()
	pem, err := os.ReadFile(g.server.CAFile)
	if err != nil {
		g.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	options := smtp.Options{
		Server: g.server.Address, Mode: smtp.StartTLS, Roots: roots, User: mailtest.User, Password: mailtest.Password,
		Timeout: 2 * time.Second, Final: time.Minute,
	}
	if change != nil {
		change(&options)
	}
	server, err := smtp.New(options)
	if err != nil {
		g.t.Fatal(err)
	}
	writer, err := letter.NewWriter(letter.Builtin(), "Nørth <hello@north.example>", "")
	if err != nil {
		g.t.Fatal(err)
	}
	room := mail.New(mail.Options{
		Store: g.store, Writer: writer, Relay: server, Timeout: options.Timeout, Pace: 60_000, AtOnce: 4,
		Log: slog.New(slog.NewTextHandler(&g.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		room.Run(ctx)
		close(ended)
	}()
	stop := func() {
		cancel()
		<-ended
	}
	g.t.Cleanup(stop)
	return room, stop
}

// states gives every mail by its address.
func (g *ground) states() map[string]landfall.MailRecord {
	g.t.Helper()
	found := map[string]landfall.MailRecord{}
	err := g.store.View(g.t.Context(), func(view landfall.View) error {
		mails, err := view.Mails(g.t.Context(), landfall.MailQuery{Limit: 1000})
		for _, mail := range mails {
			found[mail.To] = mail
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return found
}

// until waits for something to be so.
func (g *ground) until(what string, so func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			g.t.Fatalf("waited in vain until %s: %+v\n%s", what, g.states(), g.log.read())
		}
	}
}

// settled says whether nothing waits any more, but for one address.
func (g *ground) settled(but string) bool {
	for address, mail := range g.states() {
		if address != but && (mail.State == landfall.MailQueued || mail.State == landfall.MailSending) {
			return false
		}
	}
	return true
}

// TestEveryMoodOfAServer meets all that mail servers do. Sent twice, a mail
// makes a customer doubt both; given up too early, he never hears of it.
func TestEveryMoodOfAServer(t *testing.T) {
	mail.Hurry(t)
	onEach(t, func(t *testing.T, g *ground) {
		addresses := []string{"ada@a.co", "nobody@a.co", "grey@a.co", "full@a.co", "hang@a.co", "cut@a.co", "mute@a.co", "spam@a.co", "bye@a.co", "añada@bücher.co"}
		number := g.create("1", addresses...)
		room, stop := g.room(nil)
		g.until("all but the full one are settled", func() bool { return g.settled("full@a.co") })
		g.until("the full one was put off", func() bool { return g.states()["full@a.co"].Attempts > 1 })
		stop()
		for address, want := range map[string]landfall.MailState{
			"ada@a.co": landfall.MailSent, "nobody@a.co": landfall.MailRefused, "grey@a.co": landfall.MailSent, "full@a.co": landfall.MailQueued,
			"hang@a.co": landfall.MailSent, "cut@a.co": landfall.MailSent, "mute@a.co": landfall.MailSent, "spam@a.co": landfall.MailRefused,
			"bye@a.co": landfall.MailSent, "añada@bücher.co": landfall.MailSent,
		} {
			if got := g.states()[address]; got.State != want {
				t.Errorf("%s is %+v, want %s", address, got, want)
			}
		}
		if got := g.states()["nobody@a.co"]; !strings.HasPrefix(got.Reply, "550 5.1.1 ") || got.Told() {
			t.Errorf("refused %+v", got)
		}
		received := map[string][]mailtest.Received{}
		for _, mail := range g.server.Mails() {
			received[mail.EnvelopeTo[0]] = append(received[mail.EnvelopeTo[0]], mail)
			// The library knows addresses of other scripts (RFC 6532) for a defect.
			if len(mail.Defects) > 0 && mail.PlainLetters || !mail.TLS || mail.User != mailtest.User || !strings.Contains(mail.Text, number) || !strings.Contains(mail.HTML, "Hello Zoë 1,") ||
				mail.From != "Nørth <hello@north.example>" || mail.Subject != "Your Nørth & Sons account has moved" {
				t.Errorf("got %+v", mail)
			}
		}
		// Only the one whose answer was lost came twice, and that can be told.
		for address, count := range map[string]int{"ada@a.co": 1, "grey@a.co": 1, "hang@a.co": 1, "cut@a.co": 1, "mute@a.co": 2, "nobody@a.co": 0, "añada@xn--bcher-kva.co": 1} {
			if got := received[address]; len(got) != count || count == 2 && (got[0].MessageID != got[1].MessageID || got[0].Date != got[1].Date || got[0].Text != got[1].Text) {
				t.Errorf("%s got %d, want %d: %+v", address, len(got), count, got)
			}
		}
		if figures := &room.Figures; figures.Sent.Load() != 7 || figures.Refused.Load() != 2 || figures.Unanswered.Load() < 1 || figures.PutOff.Load() < 4 {
			t.Errorf("figures %+v", figures)
		}
		if log := g.log.read(); strings.Contains(log, "a.co") || strings.Contains(log, "Zoë") || strings.Contains(log, "s3cret") {
			t.Errorf("the log says too much:\n%s", log)
		}
	})
}

// A server that takes a mail and never says so gets it a few times, not for
// three days, and the operator sees that it may have been read.
func TestACustomerIsNotFlooded(t *testing.T) {
	mail.Hurry(t)
	onEach(t, func(t *testing.T, g *ground) {
		g.create("1", "deaf@a.co", "ada")
		_, stop := g.room(func(o *smtp.Options) { o.Timeout = 20 * time.Second })
		g.until("it is given up", func() bool { return g.settled("") })
		stop()
		got, mails := g.states()["deaf@a.co"], g.server.Mails()
		if got.State != landfall.MailRefused || !got.Told() || !strings.HasPrefix(got.Reply, "given up after 3 attempts: ending the message") {
			t.Errorf("got %+v", got)
		}
		if len(mails) != 3 || mails[0].MessageID != mails[2].MessageID {
			t.Errorf("%d arrived: %+v", len(mails), mails)
		}
		if never := g.states()["ada"]; never.State != landfall.MailRefused || never.Reply != letter.ErrNoAddress.Error() || never.Told() {
			t.Errorf("got %+v", never)
		}
	})
}

// TestTroubleOfTheServerIsNoMailsFault has a server that does not know us.
// Attempts that count against the mails would give up all of them for one wrong
// password.
func TestTroubleOfTheServerIsNoMailsFault(t *testing.T) {
	onEach(t, func(t *testing.T, g *ground) {
		for i := range 5 {
			g.create(fmt.Sprint(i), fmt.Sprintf("c%d@a.co", i))
		}
		room, stop := g.room(func(o *smtp.Options) { o.Password = "wrong" })
		g.until("the trouble is known", func() bool { return room.Figures.Troubles.Load() > 0 && !room.Healthy() })
		time.Sleep(2 * time.Second)
		stop()
		if troubles := room.Figures.Troubles.Load(); troubles > 8 {
			t.Errorf("a server that does not know us was asked %d times", troubles)
		}
		for address, mail := range g.states() {
			if mail.State != landfall.MailQueued || mail.Attempts != 0 || mail.Told() {
				t.Errorf("%s is %+v", address, mail)
			}
		}
		if log := g.log.read(); !strings.Contains(log, "needs the operator") || strings.Contains(log, "wrong") {
			t.Errorf("the log says\n%s", log)
		}
		_, stop = g.room(nil)
		g.until("all are sent", func() bool { return g.settled("") })
		stop()
		if got := len(g.server.Mails()); got != 5 {
			t.Errorf("%d arrived", got)
		}
	})
}

// TestAServerThatComesBackIsUsedAgain restarts the mail server. A line that was
// kept open and is dead must not take the mails that follow with it.
func TestAServerThatComesBackIsUsedAgain(t *testing.T) {
	onEach(t, func(t *testing.T, g *ground) {
		room, _ := g.room(nil)
		g.create("1", "first@a.co")
		g.until("the first is sent", func() bool { return g.settled("") })
		g.server.Stop()
		g.create("2", "second@a.co")
		g.until("the trouble is known", func() bool { return !room.Healthy() })
		g.server.Restart()
		g.until("the second is sent", func() bool { return g.settled("") })
		if !room.Healthy() || len(g.server.Mails()) != 2 {
			t.Errorf("healthy %v, %d arrived", room.Healthy(), len(g.server.Mails()))
		}
	})
}

// TestRoomsSideBySideSendEachOnce lets three replicas send at once. A mail that
// two of them take comes twice.
func TestRoomsSideBySideSendEachOnce(t *testing.T) {
	onEach(t, func(t *testing.T, g *ground) {
		const count = 60
		for i := range count {
			g.create(fmt.Sprint(i), fmt.Sprintf("c%d@a.co", i))
		}
		for range 3 {
			g.room(nil)
		}
		g.until("all are sent", func() bool { return g.settled("") })
		seen := map[string]int{}
		for _, mail := range g.server.Mails() {
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
