package crashtest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
	"landfall/internal/test/mailtest"
	"landfall/internal/test/tooltest"
)

// Servers are killed again and again while they create accounts and send mail
// to their customers over TLS. Every address gets its mail. An address that
// gets it twice can tell, because both have the same Message-ID.
func TestKilledWhileSendingMail(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	server := mailtest.Start(t, "starttls")
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(mailtest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	onBoth(t, func(t *testing.T, f *fleet) {
		const accounts = 60
		random := rand.New(rand.NewPCG(seedOf(t), 0))
		c := &caller{fleet: f, history: &crashtest.History{}, ruthless: true}
		domain := strings.ToLower(filepath.Base(t.Name())) + ".landfall.dev"
		var working sync.WaitGroup
		for worker := range 4 {
			own := rand.New(rand.NewPCG(random.Uint64(), 0))
			working.Go(func() {
				for i := worker; i < accounts; i += 4 {
					createWithCustomers(c, own, fmt.Sprintf("M-%d", i), domain)
				}
			})
		}
		finished := make(chan struct{})
		go func() {
			working.Wait()
			close(finished)
		}()
		kills := 0
		for over := false; !over || kills < 8; {
			time.Sleep(time.Duration(100+random.IntN(400)) * time.Millisecond)
			victim := f.replicas[random.IntN(len(f.replicas))]
			victim.kill()
			victim.start()
			kills++
			select {
			case <-finished:
				over = true
			default:
			}
		}
		store := f.open()
		defer store.Close()
		eventually(t, 3*time.Minute, "every mail is sent", func() bool { return allSent(t, store, accounts*2) })
		received := map[string][]mailtest.Received{}
		for _, mail := range server.Mails() {
			if to := mail.EnvelopeTo[0]; strings.HasSuffix(to, "@"+domain) {
				received[to] = append(received[to], mail)
			}
		}
		repeated := 0
		for i := range accounts {
			for _, name := range []string{"ada", "charles"} {
				got := received[fmt.Sprintf("%s-m-%d@%s", name, i, domain)]
				if len(got) == 0 {
					t.Errorf("%s of account %d got no mail", name, i)
					continue
				}
				repeated += len(got) - 1
				for _, again := range got {
					if len(again.Defects) > 0 || again.MessageID != got[0].MessageID || again.Text != got[0].Text || again.Date != got[0].Date {
						t.Errorf("%s of account %d got different messages: %+v", name, i, got)
					}
				}
			}
		}
		t.Logf("%d kills, %d mails, %d of them repetitions", kills, 2*accounts+repeated, repeated)
		f.operate("verify")
	}, "--smtp-server", server.Address, "--smtp-ca-file", server.CAFile, "--smtp-user", mailtest.User, "--smtp-password-file", password,
		"--mail-from", "North <hello@north.example>", "--smtp-timeout", "2s", "--mail-pace", "1200")
}

// createWithCustomers creates an account with two customers and retries until it succeeds.
func createWithCustomers(c *caller, random *rand.Rand, external, domain string) {
	key := landfall.Key{Supplier: supplier, External: external}
	small := strings.ToLower(external)
	document := fmt.Sprintf(`{"import_supplier":%q,"external_account_number":%q,"customers":[
		{"given_name":"Ada","family_name":"Lovelace","email":"ada-%s@%s"},{"given_name":"Charles","email":"charles-%s@%s"}]}`,
		key.Supplier, key.External, small, domain, small, domain)
	for c.t.Context().Err() == nil {
		stage := crashtest.Intent{Verb: crashtest.Stage, Key: key, Document: document}
		if answer, err := c.send(c.pick(random), stage); err != nil || answer.Status >= 500 {
			continue
		}
		answer, err := c.send(c.pick(random), crashtest.Intent{Verb: crashtest.Process, Key: key})
		if err == nil && (answer.Status == 201 || answer.Code == landfall.CodeAlreadyImported) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// allSent reports whether there are that many mails and all of them are sent.
func allSent(t *testing.T, store landfall.Store, count int) bool {
	t.Helper()
	sent := 0
	err := store.View(t.Context(), func(view landfall.View) error {
		mails, err := view.Mails(t.Context(), landfall.MailQuery{Supplier: supplier, Limit: 10 * count})
		if len(mails) > count {
			t.Errorf("%d mails for %d addresses", len(mails), count)
		}
		for _, mail := range mails {
			if mail.State == landfall.MailSent {
				sent++
			}
		}
		return err
	})
	return err == nil && sent == count
}
