package crashtest_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"landfall"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/service/operate"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

const (
	supplier = "NORTH"
	team     = "Migration Team"
	vendor   = "SANDBOX"
	lease    = 2 * time.Second
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Parallel tests here mostly wait for leases and limits, not for a
	// processor.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// killWithTests kills the servers when the test process dies, where the system supports
// that.
var killWithTests = &syscall.SysProcAttr{}

// fleet is one database with the servers on it.
type fleet struct {
	t        *testing.T
	program  string
	database string
	flags    []string
	replicas []*replica
	http     *http.Client
	token    string
	key      string // an API key
	keys     string // encryption keys for personal data; "" means no encryption
	staged   int    // accounts in the book
}

// onBoth runs a test with one server on SQLite and with three on PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, f *fleet), flags ...string) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, newFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "landfall.db"), 1, flags...))
	})
	t.Run("postgres", func(t *testing.T) { test(t, newFleet(t, pgtest.URL(t), 3, flags...)) })
}

// newFleet prepares a fresh database and starts servers on it.
func newFleet(t *testing.T, database string, size int, flags ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, program: tooltest.Landfall(t), database: database, flags: flags, http: &http.Client{
		// A server never tells a connection that was idle for longer than the
		// shutdown delay to close. Using it just when the server closes it
		// would fail, so the client closes idle connections sooner, as
		// serving.md advises.
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 100 * time.Millisecond}, Timeout: 40 * time.Second,
	}}
	key := f.prepare()
	for range size {
		r := &replica{fleet: f}
		f.replicas = append(f.replicas, r)
		t.Cleanup(r.kill)
		r.start()
	}
	f.key, f.token = key, f.obtainToken(key)
	return f
}

// prepare creates what every test needs and returns an API key. It does so in
// this process, which takes a fraction of the time of seven commands.
func (f *fleet) prepare() string {
	f.t.Helper()
	ctx := f.t.Context()
	store, err := sqlstore.Open(ctx, f.database, sqlstore.Options{ApplySchema: true})
	if err != nil {
		f.t.Fatal(err)
	}
	defer store.Close()
	operator := operate.New(store, operate.Options{Actor: "operator:crashtest", SendsMail: true})
	mails := true
	_, errSupplier := operator.CreateSupplier(ctx, supplier, operate.SupplierChange{SendCustomerEmails: &mails})
	err = errors.Join(errSupplier, operator.CreateTeam(ctx, team),
		operator.SetVendor(ctx, landfall.Vendor{Code: vendor, Adapter: payvendor.Sandbox}),
		operator.CreateOrganisation(ctx, "Acme"), operator.Grant(ctx, supplier, "Acme"))
	_, key, errKey := operator.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: landfall.RoleImporter})
	if err := errors.Join(err, errKey); err != nil {
		f.t.Fatal(err)
	}
	return key.Reveal()
}

// command returns the program without the settings of the developer's
// environment.
func (f *fleet) command(arguments ...string) *exec.Cmd {
	command := exec.Command(f.program, append(arguments, "--database", f.database)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LANDFALL_") })
	// Webhook receivers run on this machine.
	command.Env = append(command.Env, "LANDFALL_WEBHOOK_KEY=0123456789abcdef0123456789abcdef", "LANDFALL_WEBHOOK_NETWORKS=127.0.0.0/8")
	if f.keys != "" {
		command.Env = append(command.Env, "LANDFALL_ENCRYPTION_KEY="+f.keys)
	}
	return command
}

// operate runs an operator's command.
func (f *fleet) operate(arguments ...string) string {
	f.t.Helper()
	var complaint strings.Builder
	command := f.command(arguments...)
	// The operator's settings send mail, so that mail can be turned on. The
	// servers send none, so queued mails stay and can be counted.
	command.Env = append(command.Env, "LANDFALL_SMTP_SERVER=localhost", "LANDFALL_SMTP_TLS=none", "LANDFALL_MAIL_FROM=us@landfall.dev")
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		f.t.Fatalf("landfall %s: %v: %s", strings.Join(arguments, " "), err, complaint.String())
	}
	return string(output)
}

// open opens the database directly.
func (f *fleet) open() landfall.Store {
	f.t.Helper()
	keys, err := seal.ReadKeys(f.keys)
	if err != nil {
		f.t.Fatal(err)
	}
	store, err := sqlstore.Open(f.t.Context(), f.database, sqlstore.Options{Keys: keys})
	if err != nil {
		f.t.Fatal(err)
	}
	return store
}

// pick returns the address of a replica that is up, and waits for one.
func (f *fleet) pick(random *rand.Rand) string {
	for first := random.IntN(len(f.replicas)); ; {
		for i := range f.replicas {
			if base := f.replicas[(first+i)%len(f.replicas)].address(); base != "" {
				return base
			}
		}
		if f.t.Context().Err() != nil {
			return ""
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// replica is one server, running or stopped.
type replica struct {
	fleet   *fleet
	mutex   sync.Mutex
	base    string // "" while it is down
	process *exec.Cmd
	gone    chan struct{} // closed when the process has ended
	log     []string      // its last lines
	warned  []string      // all warnings and errors
	ops     string        // the address of its metrics, if it has one
}

func (r *replica) address() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.base
}

// start starts the server on a free port and waits until it listens.
func (r *replica) start() {
	t := r.fleet.t
	t.Helper()
	command := r.fleet.command(append([]string{"serve", "--listen", "127.0.0.1:0",
		"--shutdown-delay", "300ms", "--claim-lease", lease.String()}, r.fleet.flags...)...)
	command.SysProcAttr = killWithTests
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	listening, gone := make(chan string, 1), make(chan struct{})
	r.mutex.Lock()
	r.process, r.gone = command, gone
	r.mutex.Unlock()
	go func() {
		defer close(gone)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			r.readLog(lines.Text(), listening)
		}
		command.Wait()
	}()
	select {
	case base := <-listening:
		r.mutex.Lock()
		r.base = base
		r.mutex.Unlock()
	case <-gone:
		t.Fatalf("a replica ended at its start:\n%s", r.said())
	case <-time.After(2 * soon):
		t.Fatalf("a replica does not start:\n%s", r.said())
	}
}

// readLog records a line of the log and finds the address in it.
func (r *replica) readLog(line string, listening chan<- string) {
	var entry struct {
		Level   string `json:"level"`
		Msg     string `json:"msg"`
		Address string `json:"address"`
		Ops     string `json:"ops_address"`
	}
	err := json.Unmarshal([]byte(line), &entry)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err == nil && entry.Msg == "listening" {
		r.ops = "http://" + entry.Ops
		listening <- "http://" + entry.Address
	}
	if err == nil && (entry.Level == "WARN" || entry.Level == "ERROR") {
		r.warned = append(r.warned, line)
	}
	r.log = append(r.log, line)
	if len(r.log) > 200 {
		r.log = r.log[100:]
	}
}

func (r *replica) said() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return strings.Join(r.log, "\n")
}

// warnings returns the warnings and errors that the server logged.
func (r *replica) warnings() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.warned)
}

// kill kills the process with SIGKILL.
func (r *replica) kill() {
	r.signal(syscall.SIGKILL)
	r.mutex.Lock()
	r.base = ""
	gone := r.gone
	r.mutex.Unlock()
	if gone != nil {
		<-gone
	}
}

func (r *replica) signal(signal syscall.Signal) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.process != nil {
		r.process.Process.Signal(signal)
	}
}

// terminate stops the process with SIGTERM and returns its exit code. Callers
// may keep sending requests until it refuses them.
func (r *replica) terminate() int {
	r.signal(syscall.SIGTERM)
	<-r.gone
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.base = ""
	return r.process.ProcessState.ExitCode()
}
