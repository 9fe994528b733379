package pgtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"landfall/internal/test/tooltest"
)

// Cluster is a running PostgreSQL server with its own data folder.
type Cluster struct {
	URL        string // of the administrator
	dir        string
	arguments  []string // of the guardian
	attributes *syscall.SysProcAttr
	leash      io.WriteCloser
	guard      *exec.Cmd
}

// alive keeps every running cluster from the garbage collector, which would
// close the pipe whose end ends the server.
var alive sync.Map

// settings keep the promises the service relies on (fsync, synchronous_commit
// and full_page_writes stay on) and save work nobody looks at.
var settings = []string{
	"shared_buffers=96MB", "max_connections=300", "max_wal_size=2GB", "checkpoint_timeout=30min",
	"wal_level=minimal", "max_wal_senders=0", "jit=off", "autovacuum_naptime=10min",
}

// guardian runs the server and ends it when its own input ends. The write end
// of that input is held by the test process alone, so the server outlives
// neither an ordinary end nor a panic nor a kill -9 of the tests. Whoever wants
// the data to stay says so last. A server that has only begun does not hear the
// second signal, and one that is well under way would wait for its clients
// after the first.
const guardian = `
bin=$1 dir=$2; shift 2
"$bin/postgres" -D "$dir/data" "$@" >>"$dir/log" 2>&1 </dev/null &
server=$!
word=$(cat)
kill -TERM "$server" 2>/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] || rm -rf "$dir"
`

// Start runs a new cluster; extra settings ("fsync=off") override the usual ones.
func Start(extra ...string) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	attributes, err := unprivileged()
	if err != nil {
		return nil, err
	}
	// Between finding a free port and binding it somebody may take it.
	for range 3 {
		var cluster *Cluster
		if cluster, err = launch(bin, attributes, extra); err == nil {
			return cluster, nil
		}
	}
	return nil, err
}

// Stop ends the server and removes its data.
func (c *Cluster) Stop() error {
	alive.Delete(c)
	c.leash.Close()
	return c.guard.Wait()
}

// unprivileged chooses whom the server runs as: it refuses to run as root.
func unprivileged() (*syscall.SysProcAttr, error) {
	// Its own session keeps an interrupt from the keyboard away from it.
	attributes := &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		return attributes, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(account.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(account.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
			return attributes, nil
		}
	}
	return nil, errors.New("running as root, and there is no user postgres or nobody to run the server as")
}

// initialise makes a data folder. Its sort order is deliberately not that of
// bytes, so that a query that relies on byte order without saying so fails.
func initialise(bin string, attributes *syscall.SysProcAttr) (dir, password string, err error) {
	if dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return "", "", err
	}
	password = rand.Text()
	secret := filepath.Join(dir, "password")
	if err = os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return "", "", err
	}
	if owner := attributes.Credential; owner != nil {
		for _, path := range []string{dir, secret} {
			if err = os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
				return "", "", err
			}
		}
	}
	usual := []string{
		"-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "scram-sha-256", "--pwfile", secret,
		"-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
	}
	worldly := append([]string{"--locale-provider=icu", "--icu-locale=en-GB"}, usual...)
	var output []byte
	for _, arguments := range [][]string{worldly, usual} { // servers before 15 know no provider
		initdb := exec.Command(filepath.Join(bin, "initdb"), arguments...)
		initdb.Dir, initdb.SysProcAttr = dir, attributes
		if output, err = initdb.CombinedOutput(); err == nil {
			return dir, password, nil
		}
	}
	os.RemoveAll(dir)
	return "", "", fmt.Errorf("initdb: %w: %s", err, output)
}

// launch starts the server under a guardian that ends it with this process, because
// a test that is killed cleans nothing up.
func launch(bin string, attributes *syscall.SysProcAttr, extra []string) (*Cluster, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, password, err := initialise(bin, attributes)
	if err != nil {
		return nil, err
	}
	arguments := []string{"-c", guardian, "pgtest", bin, dir, "-h", "127.0.0.1", "-p", port, "-k", dir}
	for _, setting := range slices.Concat(settings, extra) {
		arguments = append(arguments, "-c", setting)
	}
	cluster := &Cluster{
		URL: fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%s/postgres?sslmode=disable", password, port),
		dir: dir, arguments: arguments, attributes: attributes,
	}
	if err := cluster.run(); err != nil {
		return nil, err
	}
	if err := cluster.answers(20 * time.Second); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		cluster.Stop()
		return nil, fmt.Errorf("PostgreSQL did not start: %w: %s", err, log)
	}
	return cluster, nil
}

// run starts the server on its data.
func (c *Cluster) run() error {
	guard := exec.Command("/bin/sh", c.arguments...)
	guard.Dir, guard.SysProcAttr = c.dir, c.attributes
	leash, err := guard.StdinPipe()
	if err != nil {
		return err
	}
	if err := guard.Start(); err != nil {
		return err
	}
	c.guard, c.leash = guard, leash
	alive.Store(c, nil)
	return nil
}

// answers waits until the server does.
func (c *Cluster) answers(patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := execute(c.URL, "SELECT 1")
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// freePort may be taken by somebody else before it is used; starting again then is
// simpler than a lock.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// binaries finds the server's programs, and installs them where that is ours
// to do: as root on a Debian machine, which is what a build machine is.
func binaries() (string, error) {
	if bin, ok := find(); ok {
		return bin, nil
	}
	if err := tooltest.Install("postgresql"); err != nil {
		return "", fmt.Errorf("PostgreSQL was not found; %w, or set %s to the URL of a server to test against", err, Environment)
	}
	if bin, ok := find(); ok {
		return bin, nil
	}
	return "", errors.New("PostgreSQL was installed but cannot be found")
}

// Programs names the variable that holds the folder of another PostgreSQL's
// programs than the newest one installed.
const Programs = "LANDFALL_TEST_POSTGRES_BIN"

// find looks where Debian puts the programs, unless somebody names others.
func find() (string, bool) {
	if bin := os.Getenv(Programs); bin != "" {
		return bin, true
	}
	// Debian keeps every major in a folder of its own; take the newest.
	found, newest := "", 0
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	for _, candidate := range candidates {
		bin := filepath.Dir(candidate)
		if major, err := strconv.Atoi(filepath.Base(filepath.Dir(bin))); err == nil && major > newest {
			found, newest = bin, major
		}
	}
	if found != "" {
		return found, true
	}
	path, err := exec.LookPath("initdb")
	return filepath.Dir(path), err == nil
}

// Own gives files to whom servers run as, who reads a private key only when it
// is his own.
func Own(paths ...string) error {
	attributes, err := unprivileged()
	if err != nil || attributes.Credential == nil {
		return err
	}
	for _, path := range paths {
		if err := os.Chown(path, int(attributes.Credential.Uid), int(attributes.Credential.Gid)); err != nil {
			return err
		}
	}
	return nil
}
