package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/guard"
	"landfall/internal/outbound/webhook"
	"landfall/internal/test/tooltest"
)

// testDelivery is an event with the sender that delivers it, as the service would.
type testDelivery struct {
	sender  *webhook.Sender
	secrets []landfall.WebhookSecret
	secret  string
	event   landfall.Event
}

func newTestDelivery(t *testing.T) *testDelivery {
	t.Helper()
	settings := app.Defaults()
	settings.WebhookKey, settings.BaseURL = strings.Repeat("k", 40), "https://landfall.example.com"
	var err error
	if settings.WebhookNetworks, err = guard.Networks([]string{"127.0.0.0/8"}); err != nil {
		t.Fatal(err)
	}
	p := &testDelivery{event: landfall.Event{
		ID: 7, Type: landfall.EventNotesCreated, Key: landfall.Key{Supplier: "NORTH", External: "10/01 “é”"},
		AccountNumber: "A-7K2M9QXZ", At: time.Now(), Details: map[string]string{"count": "2"},
	}}
	if p.sender, err = app.NewSender(settings, "urn:landfall:test", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.sender.Close)
	secret, err := p.sender.Keys.New()
	if err != nil {
		t.Fatal(err)
	}
	p.secrets = []landfall.WebhookSecret{secret}
	if p.secret, err = p.sender.Keys.Reveal(secret); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *testDelivery) send(t *testing.T, url string) delivery.Outcome {
	t.Helper()
	return p.sender.Send(t.Context(), &landfall.Webhook{URL: url, Secrets: p.secrets}, p.event)
}

// The example receivers in the handbook work as printed there.
func TestReceiversOfTheHandbook(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, start := range map[string]func(file string) *exec.Cmd{
		"go": func(file string) *exec.Cmd {
			binary := file + ".bin"
			if output, err := exec.Command("go", "build", "-o", binary, file).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			return exec.Command(binary)
		},
		"python": func(file string) *exec.Cmd { return exec.Command(tooltest.Debian(t, "python3"), file) },
	} {
		t.Run(language, func(t *testing.T) {
			code := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
			if code == nil {
				t.Fatal("the page has none")
			}
			file := filepath.Join(t.TempDir(), map[string]string{"go": "main.go", "python": "receiver.py"}[language])
			if err := os.WriteFile(file, code[1], 0o600); err != nil {
				t.Fatal(err)
			}
			tryReceiver(t, start(file))
		})
	}
}

func tryReceiver(t *testing.T, command *exec.Cmd) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p := newTestDelivery(t)
	command.Env = append(os.Environ(), "WEBHOOK_SECRET="+p.secret, "LISTEN="+address)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	url := "http://" + address + "/hook"
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if outcome := p.send(t, url); outcome.Status == 204 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("it never took the event: %+v", outcome)
		}
	}
	// Send it again with two secrets, then with only a different one.
	former := p.secrets
	other, _ := p.sender.Keys.New()
	p.secrets = append([]landfall.WebhookSecret{other}, former...)
	if outcome := p.send(t, url); outcome.Status != 204 {
		t.Errorf("with two secrets: %+v", outcome)
	}
	p.secrets = []landfall.WebhookSecret{other}
	if outcome := p.send(t, url); outcome.Status != 401 {
		t.Errorf("with another secret: %+v", outcome)
	}
	p.secrets, p.event.ID = former, 8
	p.event.Type = landfall.EventSkipped
	p.send(t, url)
	lines := bufio.NewReader(output)
	for _, want := range []string{"post_import.notes_created NORTH/10/01 “é”\n", "account_import.skipped NORTH/10/01 “é”\n"} {
		if line, err := lines.ReadString('\n'); line != want {
			t.Errorf("it says %q, %v, want %q", line, err, want)
		}
	}
}

// Public libraries in another language can verify and read our deliveries.
func TestPublicLibrariesVerifyDeliveries(t *testing.T) {
	folder := tooltest.Node(t, "testdata/receiver")
	script := readTestFile(t, "testdata/receiver/verify.mjs")
	if err := os.WriteFile(filepath.Join(folder, "verify.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 1)
	p := newTestDelivery(t)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers := map[string]string{}
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		text, _ := json.Marshal(map[string]any{"secret": p.secret, "headers": headers, "body": string(body)})
		got <- text
	}))
	t.Cleanup(server.Close)
	if outcome := p.send(t, server.URL); !outcome.Arrived() {
		t.Fatalf("%+v", outcome)
	}
	node := exec.CommandContext(t.Context(), "node", "verify.mjs")
	node.Dir, node.Stdin = folder, bytes.NewReader(<-got)
	output, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, want := range []string{`"refused":true`, `"type":"post_import.notes_created"`, `"subject":"NORTH/10/01 “é”"`, `"count":2`, `"id":"7-`} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%s is not in %s", want, output)
		}
	}
}

func readTestFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
