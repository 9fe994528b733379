package crashtest_test

import (
	cryptorand "crypto/rand"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// alone runs the test again in a process with its own mounts, which disappear
// with the process. In that process it returns true.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv("LANDFALL_ALONE") == t.Name() {
		return true
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-test.timeout=15m")
	command.Env = append(os.Environ(), "LANDFALL_ALONE="+t.Name())
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	output, err := command.CombinedOutput()
	switch {
	case command.Process == nil:
		missingf(t, "a file system of one's own cannot be mounted here: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, output)
	case strings.Contains(string(output), "--- SKIP"):
		t.Skipf("%s", output)
	default:
		t.Logf("%s", output)
	}
	return false
}

// missingf skips a test that this machine cannot run. In CI it fails the test.
func missingf(t *testing.T, format string, arguments ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, arguments...)
	}
	t.Skipf(format, arguments...)
}

// disk is a small file system that a test can fill completely.
type disk struct {
	t       *testing.T
	folder  string
	ballast string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t: t, folder: filepath.Join(t.TempDir(), "disk")}
	d.ballast = filepath.Join(d.folder, "ballast")
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("landfall", d.folder, "tmpfs", 0, "size=64m"); err != nil {
		missingf(t, "mounting a small file system: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(d.folder, syscall.MNT_DETACH) })
	return d
}

// fill fills the disk for a while, including space that is freed meanwhile.
func (d *disk) fill(length time.Duration) {
	d.t.Helper()
	file, err := os.OpenFile(d.ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 256<<10)
	for end := time.Now().Add(length); time.Now().Before(end); {
		if _, err := file.Write(block); err != nil {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func (d *disk) empty() {
	d.t.Helper()
	if err := os.Remove(d.ballast); err != nil {
		d.t.Fatal(err)
	}
}

// The disk is full while 64 callers write. Callers get a temporary error,
// readiness fails, and everything works again without a restart once there is
// space.
func TestFullDisk(t *testing.T) {
	tooltest.SkipIfShort(t)
	if !alone(t) {
		return
	}
	d := newDisk(t)
	f := newFleet(t, "sqlite:"+filepath.Join(d.folder, "landfall.db"), 1)
	l := newLoad("F", seedOf(t))
	l.bulk = 40_000 // so that a transaction writes to disk before it ends
	disturbed(f, l, 64, func(c *caller, _ *rand.Rand) {
		for range 2 {
			time.Sleep(500 * time.Millisecond)
			d.fill(2 * time.Second)
			eventually(t, soon, "the service says that it is not ready", func() bool { return f.ready(f.replicas[0]) == http.StatusServiceUnavailable })
			eventually(t, soon, "the service says that the disk is full", func() bool {
				_, body := f.readiness(f.replicas[0])
				return strings.Contains(body, "The disk of the database is full.")
			})
			d.empty()
			t.Logf("the service takes writes again after %s", c.recovers(l))
			eventually(t, soon, "the service says that it is ready", func() bool { return f.ready(f.replicas[0]) == http.StatusOK })
		}
	})
	checkLoss(t, f.replicas[0].warnings(), 2, "disk is full")
	f.checkAlive()
}

// A server that starts on a full disk serves reads, says why it refuses writes,
// and takes them again as soon as there is space. It used to give up after 30
// seconds.
func TestStartOnFullDisk(t *testing.T) {
	tooltest.SkipIfShort(t)
	if !alone(t) {
		return
	}
	for name, end := range map[string]func(*replica){"stopped": func(r *replica) { r.terminate() }, "killed": (*replica).kill} {
		t.Run("sqlite/"+name, func(t *testing.T) {
			d := newDisk(t)
			startFull(t, d, "sqlite:"+filepath.Join(d.folder, "landfall.db"), end)
		})
		t.Run("postgres/"+name, func(t *testing.T) {
			d := newDisk(t)
			startFull(t, d, d.postgres(), end)
		})
	}
}

// startFull ends a server, fills its disk, and starts it again.
func startFull(t *testing.T, d *disk, database string, end func(*replica)) {
	f := newFleet(t, database, 1)
	server := f.replicas[0]
	f.createFullAccount("before")
	key := landfall.Key{Supplier: supplier, External: "before"}
	end(server)
	d.fill(300 * time.Millisecond)
	server.start()
	if status, _ := f.status(key); status != "COMPLETED" {
		t.Errorf("the status of an account is %q", status)
	}
	stage := func() (int, string) {
		body := `{"import_supplier":"` + supplier + `","external_account_number":"` + strconv.FormatInt(time.Now().UnixNano(), 10) +
			`","billing_name":"Ada","customers":[{"family_name":"Lovelace"}],"billing_address":{"country":"GB","street_address":"` + cryptorand.Text() + `"}}`
		status, answer, err := f.request(http.MethodPost, server.address(), imports+"/account-import-process/create-or-update/", []byte(body))
		if err != nil {
			t.Error(err)
		}
		return status, string(answer)
	}
	// The database may have space left in its files for some writes.
	eventually(t, soon, "a write is refused because the disk is full", func() bool {
		status, answer := stage()
		return status == http.StatusServiceUnavailable && strings.Contains(answer, "disk of the database is full")
	})
	eventually(t, soon, "a login is refused because the disk is full", func() bool {
		status, answer, _ := f.logIn(f.key)
		return status == http.StatusServiceUnavailable && strings.Contains(string(answer), "disk of the database is full")
	})
	if status, _ := f.status(key); status != "COMPLETED" {
		t.Errorf("the status of an account is %q while the disk is full", status)
	}
	d.empty()
	eventually(t, soon, "a write succeeds when there is space", func() bool {
		status, answer := stage()
		if status != http.StatusCreated && status != http.StatusServiceUnavailable {
			t.Fatalf("staging: %d %s", status, answer)
		}
		return status == http.StatusCreated
	})
	eventually(t, soon, "the service is ready", func() bool { return f.ready(server) == http.StatusOK })
	f.checkAlive()
}

// postgres returns a database whose tables are on the disk, while the log of its
// server is elsewhere.
func (d *disk) postgres() string {
	d.t.Helper()
	cluster, err := pgtest.Start()
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { cluster.Stop() })
	parent := filepath.Dir(d.folder)
	for _, folder := range []string{parent, filepath.Dir(parent)} {
		if err := os.Chmod(folder, 0o711); err != nil { // the server runs as another user
			d.t.Fatal(err)
		}
	}
	if err := pgtest.ChownToServer(d.folder); err != nil {
		d.t.Fatal(err)
	}
	url, err := cluster.Database("small")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, statement := range []string{`CREATE TABLESPACE small LOCATION '` + d.folder + `'`, `ALTER DATABASE small SET TABLESPACE small`} {
		if err := cluster.Execute(statement); err != nil {
			d.t.Fatal(err)
		}
	}
	return url
}

// Every fsync fails with an I/O error for a while. Everything confirmed before
// and during that time is there, and the service works again when the disk
// does.
func TestFailingSync(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	strace := tooltest.Debian(t, "strace")
	f := newFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "landfall.db"), 1)
	l := newLoad("S", seedOf(t))
	disturbed(f, l, 16, func(c *caller, _ *rand.Rand) {
		for range 2 {
			time.Sleep(500 * time.Millisecond)
			f.failSyncs(strace, 1500*time.Millisecond)
			t.Logf("the service takes writes again after %s", c.recovers(l))
		}
	})
	f.checkAlive()
}

// failSyncs makes every fsync of the first server fail for a while.
func (f *fleet) failSyncs(strace string, length time.Duration) {
	f.t.Helper()
	pid := strconv.Itoa(f.replicas[0].process.Process.Pid)
	report := filepath.Join(f.t.TempDir(), "strace")
	command := exec.Command(strace, "-f", "-o", report, "-p", pid, "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	command.SysProcAttr = killWithTests
	var complaint strings.Builder
	command.Stderr = &complaint
	if err := command.Start(); err != nil {
		f.t.Fatal(err)
	}
	failures := func() int {
		injected, _ := os.ReadFile(report) // missing until strace has started
		return strings.Count(string(injected), "(INJECTED)")
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for end := time.Now().Add(soon); failures() == 0 && len(ended) == 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(length)
	_ = command.Process.Signal(os.Interrupt) // strace detaches from the server
	<-ended
	if _, err := os.Stat(report); err != nil || strings.Contains(complaint.String(), "ptrace") {
		missingf(f.t, "a process cannot be traced here: %v %s", err, complaint.String())
	}
	f.t.Logf("%d fsyncs failed", failures())
	if failures() == 0 {
		f.t.Errorf("no fsync failed: %s", complaint.String())
	}
}
