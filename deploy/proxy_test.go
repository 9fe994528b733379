package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// replica is a server behind a proxy.
type replica struct {
	process *exec.Cmd
	address string
	mu      sync.Mutex
	log     bytes.Buffer
}

func (r *replica) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// startReplica starts a replica on an address and waits until it listens.
func startReplica(t *testing.T, database, address string) *replica {
	t.Helper()
	r := &replica{process: exec.Command(tooltest.Landfall(t), "serve", "--listen", address, "--database", database,
		"--trusted-proxies", "127.0.0.1", "--shutdown-delay", "5s")}
	r.process.Env = cleanEnvironment()
	output, err := r.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.process.Process.Kill(); r.process.Wait() })
	listening := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			var entry struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
				listening <- entry.Address
			}
			r.mu.Lock()
			r.log.Write(append(lines.Bytes(), '\n'))
			r.mu.Unlock()
		}
	}()
	select {
	case r.address = <-listening:
	case <-time.After(60 * time.Second):
		t.Fatalf("a replica does not start:\n%s", r.said())
	}
	return r
}

// cleanEnvironment returns the environment without the developer's settings.
func cleanEnvironment() (kept []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "LANDFALL_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// startSite starts two replicas and returns a key for them.
func startSite(t *testing.T) (one, two *replica, key string) {
	t.Helper()
	database := pgtest.URL(t)
	operate := func(arguments ...string) string {
		command := exec.CommandContext(t.Context(), tooltest.Landfall(t), append(arguments, "--database", database)...)
		command.Env = cleanEnvironment()
		output, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", arguments, err)
		}
		return strings.TrimSpace(string(output))
	}
	operate("schema", "apply")
	operate("supplier", "create", "NORTH")
	operate("organisation", "create", "Acme")
	operate("supplier", "grant", "NORTH", "Acme")
	key = operate("key", "create", "Acme")
	return startReplica(t, database, "127.0.0.1:0"), startReplica(t, database, "127.0.0.1:0"), key
}

// caller sends requests through a proxy.
type caller struct {
	t     *testing.T
	base  string
	token string
}

func (c *caller) do(method, path, body string) (int, string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if strings.Contains(path, "/bulk/") {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	request.Header.Set("X-Forwarded-For", "203.0.113.9") // forged
	if c.token != "" {
		request.Header.Set("Authorization", "Token "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func (c *caller) stage(external string) (int, string) {
	return c.do(http.MethodPost, "/v1/data-import/account-import-process/create-or-update/",
		fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":%q,"customers":[{}]}`, external))
}

// through sends requests to two replicas through a proxy and stops one of them
// meanwhile. Every request must succeed.
func through(t *testing.T, start func(listen, one, two string)) {
	t.Helper()
	one, two, key := startSite(t)
	listen := freeAddress(t)
	start(listen, one.address, two.address)
	c := &caller{t: t, base: "http://" + listen}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if status, _ := c.do(http.MethodGet, "/readyz", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the proxy does not let anybody through")
		}
	}
	_, text := c.do(http.MethodPost, "/v1/graphql/",
		fmt.Sprintf(`{"query":"mutation { obtainServiceToken(input: {apiKey: \"%s\"}) { token } }"}`, key))
	_, rest, _ := strings.Cut(text, `"token":"`)
	c.token, _, _ = strings.Cut(rest, `"`)
	if status, text := c.stage("with/slash"); status != http.StatusCreated {
		t.Fatalf("staging: %d %s", status, text)
	}
	// The encoded slash arrives as it was sent.
	if status, text := c.do(http.MethodGet, "/v1/data-import/account-transfer-status/NORTH/with%2Fslash/", ""); status != http.StatusOK {
		t.Errorf("a path with an encoded slash: %d %s", status, text)
	}
	if status, text := c.do(http.MethodPost, "/v1/data-import/bulk/account-import-process/create-or-update/",
		`{"import_supplier":"NORTH","external_account_number":"B-1","customers":[{}]}`+"\n"); status != http.StatusOK || !strings.Contains(text, `201`) {
		t.Errorf("bulk: %d %s", status, text)
	}
	for i := range 60 {
		if i == 20 {
			one.process.Process.Signal(syscall.SIGTERM)
		}
		if status, text := c.stage(fmt.Sprint("A-", i)); status != http.StatusCreated {
			t.Errorf("call %d: %d %s", i, status, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if log := one.said() + two.said(); strings.Contains(log, "203.0.113.9") || !strings.Contains(log, `"client":"127.0.0.1"`) {
		t.Error("what a caller says about where he is was believed")
	}
}

// TestReplicasBehindHaproxy stops one of two replicas under load, with the
// configuration that operators copy. No request may fail.
func TestReplicasBehindHaproxy(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	haproxy := tooltest.Debian(t, "haproxy")
	through(t, func(listen, one, two string) {
		command := exec.Command(haproxy, "-db", "-f", "haproxy/haproxy.cfg")
		command.Env = append(cleanEnvironment(), "LISTEN="+listen, "REPLICA_1="+one, "REPLICA_2="+two)
		begin(t, command)
	})
}

// TestReplicasBehindNginx does the same with nginx, which by default buffers
// and retries requests.
func TestReplicasBehindNginx(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	nginx := tooltest.Debian(t, "nginx", "nginx-light")
	through(t, func(listen, one, two string) {
		folder := t.TempDir()
		site := strings.NewReplacer("127.0.0.1:8080", listen, "127.0.0.1:8081", one, "127.0.0.1:8082", two).Replace(read(t, "nginx/landfall.conf"))
		user := ""
		if os.Geteuid() == 0 {
			user = "user root;\n"
		}
		config := filepath.Join(folder, "nginx.conf")
		text := user + "daemon off;\npid " + folder + "/pid;\nerror_log " + folder + "/error.log;\nworker_processes 1;\nevents {}\nhttp {\naccess_log off;\n"
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			text += kind + "_temp_path " + folder + "/" + kind + ";\n"
		}
		if err := os.WriteFile(config, []byte(text+site+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, nginx, "-t", "-c", config, "-e", folder+"/error.log")
		begin(t, exec.Command(nginx, "-c", config, "-e", folder+"/error.log"))
	})
}

// begin runs a proxy until the test ends.
func begin(t *testing.T, command *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		command.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
}
