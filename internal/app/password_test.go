package app

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// passwordServer is a minimal fake PostgreSQL server that asks for a password and
// reports the ones it receives.
func passwordServer(t *testing.T) (address string, received chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	received = make(chan string, 16)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			startup := make([]byte, 4)
			io.ReadFull(connection, startup)
			io.CopyN(io.Discard, connection, int64(binary.BigEndian.Uint32(startup))-4)
			connection.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3}) // asks for a clear-text password
			answer := make([]byte, 5)
			if _, err := io.ReadFull(connection, answer); err == nil {
				password := make([]byte, binary.BigEndian.Uint32(answer[1:])-4)
				io.ReadFull(connection, password)
				received <- strings.TrimRight(string(password), "\x00")
			}
			connection.Close()
		}
	}()
	return listener.Addr().String(), received
}

// Every user of the machine can read a password on the command line, so there are
// three other ways to set it. Each has to reach the server.
func TestDatabasePasswordsNeedNoCommandLine(t *testing.T) {
	const password = `hunter2 /@:?%'\x`
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		user      string
		arguments []string
		variables map[string]string
	}{
		"variable":       {"landfall@", nil, map[string]string{"LANDFALL_DATABASE_PASSWORD": password}},
		"words":          {"host=", nil, map[string]string{"LANDFALL_DATABASE_PASSWORD": password}},
		"file":           {"landfall@", []string{"--database-password-file", file}, nil},
		"without a user": {"", []string{"--database-password-file", file}, nil},
		"PGPASSFILE":     {"landfall@", nil, map[string]string{"PGPASSFILE": filepath.Join(t.TempDir(), "pgpass")}},
	} {
		t.Run(name, func(t *testing.T) {
			address, received := passwordServer(t)
			if passes := test.variables["PGPASSFILE"]; passes != "" {
				line := address + ":*:landfall:" + strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(password) + "\n"
				if err := os.WriteFile(passes, []byte(line), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			database := "postgres://" + test.user + address + "/landfall?sslmode=disable"
			if host, port, _ := net.SplitHostPort(address); test.user == "host=" {
				database = "host=" + host + " port=" + port + " user=landfall sslmode=disable"
			}
			arguments := slices.Concat(test.arguments, []string{"--database", database, "--database-wait", "0s"})
			settings, err := load(t, arguments, test.variables, "")
			if err != nil {
				t.Fatal(err)
			}
			if settings.passwordInFlag {
				t.Error("a password on the command line is reported, but there is none")
			}
			_, err = New(t.Context(), settings, "test", &Log{Logger: slog.New(slog.DiscardHandler)})
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the end of it: %v", err)
			}
			if got := <-received; got != password {
				t.Errorf("the server received %q", got)
			}
		})
	}
}

// A reload after the database's password was rotated said that the database needs a restart, though
// every new connection reads the new password.
func TestRotatedDatabasePasswordNeedsNoRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"file":    {[]string{"--database-password-file", file}, "database-password-file"},
		"command": {[]string{"--database-password-command", "cat '" + file + "'"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := func(password, host string) reloadState {
				if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
					t.Fatal(err)
				}
				settings, err := load(t, append(test.arguments, "--database", "postgres://landfall@"+host+"/landfall"), nil, "")
				if err != nil {
					t.Fatal(err)
				}
				return newReloadState(settings)
			}
			before := state("hunter2", "127.0.0.1:1")
			if got := strings.Join(before.differences(state("hunter3", "127.0.0.1:1")), " "); got != test.want {
				t.Errorf("after a rotation these differ: %q, want %q", got, test.want)
			}
			if got := before.differences(state("hunter2", "127.0.0.1:2")); len(got) != 1 || got[0] != "database" {
				t.Errorf("for another server these differ: %q", got)
			}
		})
	}
}

func TestDatabasePasswordsThatContradict(t *testing.T) {
	folder := t.TempDir()
	file, empty := filepath.Join(folder, "password"), filepath.Join(folder, "empty")
	if err := os.WriteFile(file, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(empty, []byte("\nhunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	variable := map[string]string{"LANDFALL_DATABASE_PASSWORD": "hunter2"}
	const postgres = "postgres://landfall@127.0.0.1:1/landfall"
	for name, test := range map[string]struct {
		arguments []string
		variables map[string]string
		config    string
		want      string
	}{
		"twice":          {[]string{"--database", postgres, "--database-password-file", file}, variable, "", "set only one of"},
		"in the address": {[]string{"--database", "postgres://l:hunter2@127.0.0.1:1/l"}, variable, "", "set twice"},
		"as a parameter": {[]string{"--database", postgres + "?password=hunter2"}, variable, "", "set twice"},
		"among words":    {[]string{"--database", "host=h password = hunter2"}, variable, "", "set twice"},
		"for a file":     {[]string{"--database", "sqlite:x.db"}, variable, "", "which takes none"},
		"no such file":   {[]string{"--database", postgres, "--database-password-file", file + "x"}, nil, "", "setting database-password-file: open"},
		"an empty line":  {[]string{"--database", postgres, "--database-password-file", empty}, nil, "", "has no password"},
		"in the config":  {nil, nil, "database-password: hunter2", "secrets are not allowed in the settings file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, test.arguments, test.variables, test.config)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
