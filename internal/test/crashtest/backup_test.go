package crashtest_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/crashtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// copied is a way to back up a database under load and to restore the copy
// elsewhere.
type copied struct {
	backup  func()
	restore func(revoked string) (database string)
}

// backupUnderLoad backs up a database under load, revokes a key and restores the backup
// elsewhere. Everything confirmed before the backup began is there, whole, and
// neither the revoked key nor any token is valid.
func backupUnderLoad(f *fleet, way func() copied) {
	t := f.t
	t.Helper()
	good, bad := strings.TrimSpace(f.operate("key", "create", "Acme")), strings.TrimSpace(f.operate("key", "create", "Acme"))
	l := newLoad("R", seedOf(t))
	c := &caller{fleet: f, history: &crashtest.History{}}
	stop, chosen := make(chan struct{}), way()
	working := l.run(c, 8, stop)
	eventually(t, 30*time.Second, "something was written", func() bool { return c.history.Tally()[crashtest.Process].Done > 20 })
	began := c.history.Now()
	chosen.backup()
	time.Sleep(200 * time.Millisecond) // later requests may be missing in the backup
	close(stop)
	working.Wait()
	f.operate("key", "revoke", keyID(bad))
	list := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(list, []byte(f.operate("key", "list", "--json")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.replicas {
		r.kill()
	}
	later := &fleet{t: t, program: f.program, flags: f.flags, http: f.http, token: f.token, database: chosen.restore(list)}
	r := &replica{fleet: later}
	later.replicas = append(later.replicas, r)
	t.Cleanup(r.kill)
	r.start()
	if status, _, _ := later.request(http.MethodGet, r.address(), imports+"/all-account-import-processes/"+supplier+"/", nil); status != http.StatusUnauthorized {
		t.Errorf("a token of before the backup is answered with %d", status)
	}
	later.token = later.obtainToken(good)
	if later.mayLogIn(bad) {
		t.Error("the revoked key is good again")
	}
	heir := &caller{fleet: later, history: c.history.AsOf(began)}
	heir.quiet()
	checkHistory(heir, l.name)
}

// keyID is the public part of a key.
func keyID(key string) string { return strings.Split(key, "_")[1] }

// mayLogIn reports whether a key can obtain a token.
func (f *fleet) mayLogIn(key string) bool {
	_, answer, err := f.logIn(key)
	return err == nil && strings.Contains(string(answer), `"token":"`)
}

func TestBackupOfFileUnderLoad(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	folder := t.TempDir()
	f := newFleet(t, "sqlite:"+filepath.Join(folder, "landfall.db"), 1)
	backupUnderLoad(f, func() copied {
		file := filepath.Join(folder, "copy.db")
		return copied{
			backup: func() {
				f.operate("backup", file)
				if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
					t.Errorf("the copy has mode %v, %v", info.Mode(), err)
				}
				if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
					t.Errorf("left over: %v", left)
				}
			},
			restore: func(revoked string) string {
				later := &fleet{t: t, program: f.program, database: "sqlite:" + filepath.Join(folder, "later.db")}
				later.operate("restore", file, "--revoked", revoked)
				return later.database
			},
		}
	})
}

func TestBackupOfPostgresUnderLoad(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	cluster, database := ownCluster(t, "wal_level=replica", "max_wal_senders=4")
	address := func(server *pgtest.Cluster, name string) string {
		at, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		at.Path = "/" + name
		return at.String()
	}
	run := func(program string, arguments ...string) {
		t.Helper()
		if output, err := exec.CommandContext(t.Context(), cluster.Program(program), arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", program, err, output)
		}
	}
	admit := func(f *fleet, database, revoked string) string {
		(&fleet{t: t, program: f.program, database: database}).operate("restore", "--revoked", revoked)
		return database
	}
	t.Run("dump", func(t *testing.T) {
		f := newFleet(t, database, 2)
		backupUnderLoad(f, func() copied {
			file := filepath.Join(t.TempDir(), "landfall.dump")
			return copied{
				backup: func() { run("pg_dump", "-Fc", "-f", file, "-d", database) },
				restore: func(revoked string) string {
					later, err := cluster.Database("later")
					if err != nil {
						t.Fatal(err)
					}
					run("pg_restore", "--exit-on-error", "-d", later, file)
					// The command prints what to do about the keys.
					serve := (&fleet{t: t, program: f.program, database: later}).command("serve", "--listen", "127.0.0.1:0")
					if output, err := serve.CombinedOutput(); err == nil || !strings.Contains(string(output), "landfall restore") {
						t.Errorf("a dump that was put back is served: %v %s", err, output)
					}
					return admit(f, later, revoked)
				},
			}
		})
	})
	t.Run("base backup", func(t *testing.T) {
		other, err := cluster.Database("based")
		if err != nil {
			t.Fatal(err)
		}
		f := newFleet(t, other, 2)
		backupUnderLoad(f, func() copied {
			var later *pgtest.Cluster
			return copied{
				backup: func() {
					var err error
					if later, err = cluster.Restored(); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { later.Stop() })
				},
				restore: func(revoked string) string { return admit(f, address(later, "based"), revoked) },
			}
		})
	})
}
