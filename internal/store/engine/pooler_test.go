package engine

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// TestPooler works behind a real PgBouncer in transaction mode, configured to
// refuse unknown settings or to ignore them silently. Concurrent schema
// upgrades and all limits must work all the same.
func TestPooler(t *testing.T) {
	tooltest.SkipIfShort(t)
	program := tooltest.Debian(t, "pgbouncer")
	const all = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,plan_cache_mode,enable_seqscan," +
		"enable_hashjoin,enable_mergejoin,cpu_tuple_cost,random_page_cost,jit,max_parallel_workers_per_gather,default_transaction_isolation"
	for name, ignored := range map[string]string{"refuses settings": "", "forgets settings": all} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.URL(t)
			pooled := pooler(t, program, server, ignored)
			var starters sync.WaitGroup
			for range 3 {
				starters.Go(func() { openTest(t, pooled, Options{}) })
			}
			starters.Wait()
			r := openTest(t, pooled, Options{})
			if answered, err := r.crowd(t.Context(), "", 32); err != nil || answered != 32 {
				t.Errorf("%d of 32, %v", answered, err)
			}
			copiedThrough(t, r)
			limited(t, r, server)
		})
	}
}

// copiedThrough checks that a pooler does not mix up several copies in one
// transaction, or a copy and the commands after it: COPY has a protocol of its
// own.
func copiedThrough(t *testing.T, r *testDB) {
	t.Helper()
	copied := func(names ...string) error {
		return r.Update(t.Context(), "", func(tx *Tx) error {
			var tables []Copied
			for _, name := range names {
				tables = append(tables, Copied{`COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{name, int64(0)}})
			}
			return tx.Copy(t.Context(), tables...)
		})
	}
	for i := range 12 { // often enough to use every connection of the pooler
		if err := copied(fmt.Sprint("copied ", i), fmt.Sprint("copied too ", i)); err != nil {
			t.Error(err)
		}
		if err := copied(fmt.Sprint("new ", i), fmt.Sprint("copied ", i), fmt.Sprint("new too ", i)); !NotUnique(err) {
			t.Errorf("the existing row was %v", err)
		}
		if count, err := r.count(t.Context(), fmt.Sprint("new too ", i)); err != nil || count != 0 {
			t.Errorf("a refused write is stored %d times, %v", count, err)
		}
	}
}

// limited checks that the server ends statements and lock waits that take too
// long.
func limited(t *testing.T, r *testDB, server string) {
	t.Helper()
	for i := range 12 { // often enough to use every connection of the pooler
		err := r.Update(t.Context(), fmt.Sprint(i), func(tx *Tx) error {
			var lock, statement, jit string
			if err := tx.One(t.Context(), `SELECT current_setting('lock_timeout'), current_setting('statement_timeout'), current_setting('jit')`,
				nil, []any{&lock, &statement, &jit}); err != nil {
				return err
			}
			if lock != "100ms" || statement != "4s" || jit != "off" {
				return fmt.Errorf("lock_timeout is %s, statement_timeout is %s, jit is %s", lock, statement, jit)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	began := time.Now()
	err := r.Update(t.Context(), "t", func(tx *Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT pg_sleep(30)`)
		return err
	})
	if !errors.Is(err, ErrUnavailable) || time.Since(began) > shortLimits.Statement+leeway {
		t.Errorf("a statement that hangs: %v after %s", err, time.Since(began))
	}
	release, err := lockRow(t, server, "0")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	began = time.Now()
	if err := r.put(t.Context(), "t", "0"); !errors.Is(err, ErrUnavailable) || time.Since(began) > shortLimits.Lock+leeway {
		t.Errorf("a row that stays locked: %v after %s", err, time.Since(began))
	}
}

// pooler runs PgBouncer in front of a server and returns its URL.
func pooler(t *testing.T, program, server, ignored string) string {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	folder, err := os.MkdirTemp("", "pooler") //nolint:usetesting // readable for whom it runs as
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	password, _ := address.User.Password()
	users, settings := filepath.Join(folder, "users"), filepath.Join(folder, "settings")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(users, fmt.Sprintf("%q %q\n", address.User.Username(), password))
	write(settings, fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\n"+
		"unix_socket_dir =\nauth_type = trust\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = 10\n"+
		"ignore_startup_parameters = %s\n", address.Hostname(), address.Port(), port, users, ignored))
	command := exec.Command(program, settings)
	command.Stderr = &bytes.Buffer{}
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.ParseUint(nobody.Uid, 10, 32)
		gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	for deadline := time.Now().Add(2 * leeway); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("PgBouncer did not start: %v", command.Stderr)
		}
	}
	address.Host = "127.0.0.1:" + port
	query := address.Query()
	query.Set("default_query_exec_mode", "exec") // as the manual says
	address.RawQuery = query.Encode()
	return address.String()
}
