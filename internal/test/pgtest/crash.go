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
	"time"
)

// Kill ends the server as a power cut would end it: SIGKILL to the process all
// others depend on. The data stays as it is.
func (c *Cluster) Kill() error { return c.end(syscall.SIGKILL) }

// Abort ends the server at once, without a checkpoint, which is what an
// immediate shutdown does: the next start has to recover.
func (c *Cluster) Abort() error { return c.end(syscall.SIGQUIT) }

// end tells the guardian to keep the data, which it would remove otherwise.
func (c *Cluster) end(signal syscall.Signal) error {
	pid, err := c.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("ending PostgreSQL: %w", err)
	}
	_, err = io.WriteString(c.leash, "keep")
	c.leash.Close()
	alive.Delete(c)
	// The guardian's status is the server's, which was killed.
	var exit *exec.ExitError
	if waited := c.guard.Wait(); waited != nil && !errors.As(waited, &exit) {
		return waited
	}
	return err
}

// pid reads whom the data belongs to.
func (c *Cluster) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(first))
}

// lives asks the system and not the server, which may be too busy to answer.
func (c *Cluster) lives() bool {
	pid, err := c.pid()
	return err == nil && syscall.Kill(pid, 0) == nil
}

// Restart runs a server that was ended again, on the same data and port, and
// waits until it has recovered. The children of a killed one may live on for a
// moment and keep a new one out, so it is tried again.
func (c *Cluster) Restart() error {
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if err = c.run(); err != nil {
			return err
		}
		// It writes down who it is after a moment only.
		for err = c.answers(time.Second); err != nil && c.lives(); {
			err = c.answers(100 * time.Millisecond)
		}
		if err == nil {
			return nil
		}
		_, _ = io.WriteString(c.leash, "keep")
		c.leash.Close()
		_ = c.guard.Wait() // it says how the server ended, which the log says better
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
	return fmt.Errorf("PostgreSQL does not come back: %w: %s", err, log)
}

// Standby makes a copy of a cluster that follows it, reaching it at an address
// of the caller's choice. The cluster needs wal_level=replica and
// max_wal_senders above 0.
func (c *Cluster) Standby(through string) (*Cluster, error) { return c.duplicate(through, true) }

// Restored makes a backup of a cluster, has PostgreSQL verify it, and runs it
// as a server of its own. The cluster needs what Standby needs.
func (c *Cluster) Restored() (*Cluster, error) {
	address, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	return c.duplicate(address.Host, false)
}

// duplicate runs a base backup as a server beside this one. It needs the same
// owner: PostgreSQL refuses data that is not its own.
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
	if err := copied.run(); err != nil {
		return nil, err
	}
	if err := copied.answers(20 * time.Second); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		copied.Stop()
		return nil, fmt.Errorf("the copy did not start: %w: %s", err, log)
	}
	return copied, nil
}

// Program gives the path of one of the server's own programs, such as pg_dump.
func (c *Cluster) Program(name string) string { return filepath.Join(c.arguments[3], name) }

// Database makes a database in this very cluster and gives its address. It
// goes when the cluster does.
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
