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
	arguments  []string // of the supervisor script
	env        []string // of the server, besides that of this process
	attributes *syscall.SysProcAttr
	input      io.WriteCloser // of the supervisor; closing it stops the server
	supervisor *exec.Cmd
}

// running holds every running cluster. Without it the garbage collector could
// close the pipe to a supervisor, which would stop its server.
var running sync.Map

// settings keep the guarantees that the service relies on: fsync,
// synchronous_commit and full_page_writes stay on. They only turn off work that
// tests do not need.
var settings = []string{
	"shared_buffers=96MB", "max_connections=300", "max_wal_size=2GB", "checkpoint_timeout=30min",
	"wal_level=minimal", "max_wal_senders=0", "autovacuum_naptime=10min",
}

// supervise is a script that runs the server and stops it when the script's
// input ends. Only the test process holds the other end of that pipe, so the
// server also stops when the tests panic or are killed with SIGKILL. The data is
// removed unless the input was "keep". It sends two signals: a server that is
// still starting ignores SIGINT, and after SIGTERM alone a running one would
// wait for its clients.
const supervise = `
bin=$1 dir=$2; shift 2
"$bin/postgres" -D "$dir/data" "$@" >>"$dir/log" 2>&1 </dev/null &
server=$!
input=$(cat)
kill -TERM "$server" 2>/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"
[ "$input" = keep ] || rm -rf "$dir"
`

// Start runs a new cluster. Extra settings such as "fsync=off" override the
// default ones.
func Start(extra ...string) (*Cluster, error) { return startWith(nil, extra) }

// startWith is Start with more environment variables.
func startWith(env, extra []string) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	attributes, err := unprivileged()
	if err != nil {
		return nil, err
	}
	// Another process may take the free port before the server binds it.
	for range 3 {
		var cluster *Cluster
		if cluster, err = launch(bin, attributes, env, extra); err == nil {
			return cluster, nil
		}
	}
	return nil, err
}

// Stop stops the server and removes its data.
func (c *Cluster) Stop() error {
	running.Delete(c)
	c.input.Close()
	return c.supervisor.Wait()
}

// unprivileged returns the attributes of an unprivileged process. PostgreSQL
// refuses to run as root.
func unprivileged() (*syscall.SysProcAttr, error) {
	// In its own session the server does not receive Ctrl-C.
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

// initialise creates a data folder. It does not sort text by bytes, so a query
// that relies on byte order without asking for it fails. Passwords are checked with
// MD5: the default, SCRAM, would take a third of the time of tests that connect often.
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
	options := []string{
		"-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "md5", "--pwfile", secret,
		"-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
	}
	withICU := append([]string{"--locale-provider=icu", "--icu-locale=en-GB"}, options...)
	var output []byte
	for _, arguments := range [][]string{withICU, options} { // before version 15 there is no --locale-provider
		initdb := exec.Command(filepath.Join(bin, "initdb"), arguments...)
		initdb.Dir, initdb.SysProcAttr = dir, attributes
		if output, err = initdb.CombinedOutput(); err == nil {
			return dir, password, nil
		}
	}
	os.RemoveAll(dir)
	return "", "", fmt.Errorf("initdb: %w: %s", err, output)
}

// launch starts the server under a supervisor that stops it with this process,
// because a test that is killed runs no cleanup.
func launch(bin string, attributes *syscall.SysProcAttr, env, extra []string) (*Cluster, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, password, err := initialise(bin, attributes)
	if err != nil {
		return nil, err
	}
	arguments := []string{"-c", supervise, "pgtest", bin, dir, "-h", "127.0.0.1", "-p", port, "-k", dir}
	for _, setting := range slices.Concat(settings, extra) {
		arguments = append(arguments, "-c", setting)
	}
	cluster := &Cluster{
		URL: fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%s/postgres?sslmode=disable", password, port),
		dir: dir, arguments: arguments, env: env, attributes: attributes,
	}
	if err := cluster.start(); err != nil {
		return nil, err
	}
	if err := cluster.waitReady(20 * time.Second); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		cluster.Stop()
		return nil, fmt.Errorf("PostgreSQL did not start: %w: %s", err, log)
	}
	return cluster, nil
}

// start starts the server on its data.
func (c *Cluster) start() error {
	supervisor := exec.Command("/bin/sh", c.arguments...)
	supervisor.Dir, supervisor.SysProcAttr, supervisor.Env = c.dir, c.attributes, append(os.Environ(), c.env...)
	input, err := supervisor.StdinPipe()
	if err != nil {
		return err
	}
	if err := supervisor.Start(); err != nil {
		return err
	}
	c.supervisor, c.input = supervisor, input
	running.Store(c, nil)
	return nil
}

// waitReady waits until the server answers.
func (c *Cluster) waitReady(timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		err := execute(c.URL, "SELECT 1")
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// freePort returns a free port. Another process may take it before it is used;
// Start then tries again.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// binaries finds the folder of the server's programs. As root on a Debian
// machine, such as a build machine, it installs them when they are missing.
func binaries() (string, error) {
	if bin, ok := find(); ok {
		return bin, nil
	}
	if err := tooltest.Install("postgresql"); err != nil {
		return "", fmt.Errorf("PostgreSQL was not found; %w, or set %s to the URL of a server to test against", err, URLVariable)
	}
	if bin, ok := find(); ok {
		return bin, nil
	}
	return "", errors.New("PostgreSQL was installed but cannot be found")
}

// BinVariable is the environment variable for the folder of PostgreSQL's
// programs. By default the newest installed version is used.
const BinVariable = "LANDFALL_TEST_POSTGRES_BIN"

// find looks for the programs where Debian installs them, unless BinVariable is
// set.
func find() (string, bool) {
	if bin := os.Getenv(BinVariable); bin != "" {
		return bin, true
	}
	// Debian installs each major version in its own folder.
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

// ChownToServer makes the user that servers run as the owner of files.
// PostgreSQL reads a private key only when it owns the file.
func ChownToServer(paths ...string) error {
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
