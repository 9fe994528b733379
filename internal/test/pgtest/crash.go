package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Kill ends the server as a power cut would: it sends SIGKILL to the main
// process. The data stays as it is.
func (c *Cluster) Kill() error { return c.end(syscall.SIGKILL) }

// Abort ends the server with an immediate shutdown, without a checkpoint. The
// next start has to recover.
func (c *Cluster) Abort() error { return c.end(syscall.SIGQUIT) }

// end signals the server and tells its supervisor to keep the data.
func (c *Cluster) end(signal syscall.Signal) error {
	pid, err := c.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("ending PostgreSQL: %w", err)
	}
	_, err = io.WriteString(c.input, "keep")
	c.input.Close()
	running.Delete(c)
	// The supervisor exits with the status of the server, which was killed.
	var exit *exec.ExitError
	if waited := c.supervisor.Wait(); waited != nil && !errors.As(waited, &exit) {
		return waited
	}
	return err
}

// pid returns the process ID of the server that uses the data.
func (c *Cluster) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(first))
}

// isAlive asks the operating system and not the server, which may be too busy
// to answer.
func (c *Cluster) isAlive() bool {
	pid, err := c.pid()
	return err == nil && syscall.Kill(pid, 0) == nil
}

// Restart starts a server that was killed or aborted, with the same data and
// port, and waits until it has recovered. Child processes of a killed server may
// live for a moment and block the new one, so Restart tries again.
func (c *Cluster) Restart() error {
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if err = c.start(); err != nil {
			return err
		}
		// The server writes its process ID a moment after it starts.
		for err = c.waitReady(time.Second); err != nil && c.isAlive(); {
			err = c.waitReady(100 * time.Millisecond)
		}
		if err == nil {
			return nil
		}
		_, _ = io.WriteString(c.input, "keep")
		c.input.Close()
		_ = c.supervisor.Wait() // the log says more than its status
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
	return fmt.Errorf("PostgreSQL did not restart: %w: %s", err, log)
}

// Standby starts a standby of the cluster. It connects to the primary at the
// address through. The cluster needs wal_level=replica and max_wal_senders above
// 0.
func (c *Cluster) Standby(through string) (*Cluster, error) { return c.duplicate(through, true) }

// Restored makes a backup of the cluster, verifies it with pg_verifybackup and
// starts a server on it. The cluster needs the same settings as for Standby.
func (c *Cluster) Restored() (*Cluster, error) {
	address, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	return c.duplicate(address.Host, false)
}

// duplicate starts a server on a base backup of this one. The backup must have
// the same owner, because PostgreSQL refuses data of another user.
func (c *Cluster) duplicate(through string, follows bool) (*Cluster, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	if owner := c.attributes.Credential; owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	primary, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	own := *primary
	primary.Host, own.Host = through, "127.0.0.1:"+port
	arguments := slices.Clone(c.arguments)
	data := filepath.Join(dir, "data")
	commands := [][]string{{"pg_basebackup", "-D", data, "-d", primary.String(), "-X", "stream", "-c", "fast", "--no-sync"}}
	if follows {
		commands[0] = append(commands[0], "-R")
	} else {
		commands = append(commands, []string{"pg_verifybackup", data})
	}
	for _, words := range commands {
		command := exec.Command(filepath.Join(arguments[3], words[0]), words[1:]...)
		command.Dir, command.SysProcAttr = dir, c.attributes
		if output, err := command.CombinedOutput(); err != nil {
			os.RemoveAll(dir)
			return nil, fmt.Errorf("%s: %w: %s", words[0], err, output)
		}
	}
	arguments[4], arguments[8], arguments[10] = dir, port, dir
	copied := &Cluster{URL: own.String(), dir: dir, arguments: arguments, attributes: c.attributes}
	if err := copied.start(); err != nil {
		return nil, err
	}
	if err := copied.waitReady(20 * time.Second); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		copied.Stop()
		return nil, fmt.Errorf("the copy of PostgreSQL did not start: %w: %s", err, log)
	}
	return copied, nil
}

// Program returns the path of one of PostgreSQL's programs, or skips the test if this
// installation does not have it.
func Program(t testing.TB, name string) string {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath(filepath.Join(bin, name))
	if err != nil {
		t.Skip(err)
	}
	return path
}

// Program returns the path of one of PostgreSQL's programs, such as pg_dump.
func (c *Cluster) Program(name string) string { return filepath.Join(c.arguments[3], name) }

// Database creates a database in this cluster and returns its URL. It lives as
// long as the cluster.
func (c *Cluster) Database(name string) (string, error) {
	if err := c.Execute(fmt.Sprintf("CREATE DATABASE %q TEMPLATE template0", name)); err != nil {
		return "", err
	}
	address, err := url.Parse(c.URL)
	if err != nil {
		return "", err
	}
	address.Path = "/" + name
	return address.String(), nil
}

// Execute runs one statement as the administrator.
func (c *Cluster) Execute(statement string) error { return execute(c.URL, statement) }
