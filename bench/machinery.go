package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"landfall/internal/test/pgtest"
)

// machinery is what the measurements share: the built program, a private
// PostgreSQL, a folder for files.
type machinery struct {
	folder   string
	program  string
	profiler *profiler // nil: nobody looks
	postgres *pgtest.Cluster
	floods   map[string]*flood // that came already
	million  *book             // that was sent already
	sieges   map[string]siege  // likewise
}

// prepare builds the program as it is given away and starts a PostgreSQL with room:
// with its defaults, checkpoints would decide the figures.
func prepare(ctx context.Context) (*machinery, error) {
	folder, err := os.MkdirTemp("", "landfall-bench-")
	if err != nil {
		return nil, err
	}
	m := &machinery{folder: folder, program: filepath.Join(folder, "landfall"), floods: map[string]*flood{}, sieges: map[string]siege{}}
	// As a release is built: with what the compiler was told of busy servers.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-pgo", profileOfBusyServers, "-o", m.program, "./cmd/landfall")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the program: %w\n%s", err, output)
	}
	if m.postgres, err = pgtest.Start("shared_buffers=512MB", "max_wal_size=8GB"); err != nil {
		return nil, err
	}
	return m, nil
}

// close removes everything; databases of a whole run are many gigabytes.
func (m *machinery) close() {
	_ = m.postgres.Stop()
	_ = os.RemoveAll(m.folder)
}

// clear removes what a measurement has left but its figures: the databases of all
// of them together would be more than a usual disk holds.
func (m *machinery) clear(ctx context.Context) error {
	databases, err := m.lines(ctx, m.postgres.URL, `SELECT datname FROM pg_database WHERE datname LIKE 'bench\_%'`)
	if err != nil {
		return err
	}
	for _, name := range databases {
		if err := m.psql(ctx, m.postgres.URL, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	left, err := os.ReadDir(m.folder)
	if err != nil {
		return err
	}
	for _, entry := range left {
		// Profiles are joined at the end, and the program serves the next one.
		if path := filepath.Join(m.folder, entry.Name()); path != m.program && !strings.HasPrefix(entry.Name(), pieceName) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// service is a running landfall with a supplier and a token to use it.
type service struct {
	address  string
	database string
	key      string
	token    string
	command  *exec.Cmd
}

// sqlite names a fresh file.
func (m *machinery) sqlite(name string) string {
	return "sqlite:" + filepath.Join(m.folder, name+".db")
}

// serveNew makes a database and serves it.
func (m *machinery) serveNew(ctx context.Context, database func(context.Context, *machinery) (string, error)) (*service, error) {
	name, err := database(ctx, m)
	if err != nil {
		return nil, err
	}
	return m.start(ctx, name)
}

// start sets up a database as an operator would and serves it.
func (m *machinery) start(ctx context.Context, database string) (*service, error) {
	key, err := m.setUp(ctx, database)
	if err != nil {
		return nil, err
	}
	return m.serve(ctx, database, key)
}

// setUp makes a database with a supplier and gives a key to use it.
func (m *machinery) setUp(ctx context.Context, database string) (key string, err error) {
	if _, err := m.tell(ctx, "schema", "apply", "--database", database); err != nil {
		return "", err
	}
	// By the program's own commands, so that what is measured is what an operator would have set
	// up.
	for _, words := range [][]string{
		{"organisation", "create", "Bench"}, {"supplier", "create", supplier},
		{"supplier", "grant", supplier, "Bench"}, {"team", "create", "Bench Team"},
	} {
		if _, err := m.tell(ctx, append(words, "--database", database)...); err != nil {
			return "", err
		}
	}
	key, err = m.tell(ctx, "key", "create", "Bench", "--database", database)
	return strings.TrimSpace(key), err
}

// serve serves a database that is set up.
func (m *machinery) serve(ctx context.Context, database, key string) (_ *service, err error) {
	s := &service{database: database, key: key}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, m.program, "serve", "--listen", s.address, "--database", database)
	if m.profiler != nil {
		ops, err := freeAddress()
		if err != nil {
			return nil, err
		}
		s.command.Args = append(s.command.Args, "--ops-listen", ops)
		defer func() { go m.profiler.watch(ctx, ops) }()
	}
	// Every server writes over the log of the one before: it is for whoever looks after a
	// failure.
	log, err := os.Create(filepath.Join(m.folder, "serve.log"))
	if err != nil {
		return nil, err
	}
	s.command.Stderr = log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	// Ready and not only listening: the first requests must not meet a server that is still
	// starting.
	if err := waitFor(ctx, "http://"+s.address+"/readyz"); err != nil {
		s.stop()
		return nil, err
	}
	if s.token, err = obtainToken(s.address, s.key); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// tell runs one command of the program and gives what it prints.
func (m *machinery) tell(ctx context.Context, words ...string) (string, error) {
	command := exec.CommandContext(ctx, m.program, words...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("landfall %s: %w\n%s", strings.Join(words[:2], " "), err, stderr.String())
	}
	return string(output), nil
}

// hold lets the server stand still as it is, with everything that it does beside, so
// that another one can be measured.
func (s *service) hold() { _ = s.command.Process.Signal(syscall.SIGSTOP) }

// goOn ends a standstill.
func (s *service) goOn() { _ = s.command.Process.Signal(syscall.SIGCONT) }

// stop waits for the orderly end, so that it disturbs no measurement behind it.
func (s *service) stop() {
	s.goOn() // or it would not hear of it
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// get asks for something once. Whoever asks reads the answer and closes it.
func (s *service) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Token "+s.token)
	return http.DefaultClient.Do(request)
}

// load prepares the generator for one of the service's paths.
func (s *service) load(path string, body func(int64, []byte) []byte) load {
	return load{address: s.address, connections: connections, next: post(path, s.token, body), want: "20"}
}

// obtainToken takes the way of every integrator; what is measured then includes
// looking at a real token.
func obtainToken(address, key string) (string, error) {
	question, err := json.Marshal(map[string]any{
		"query":     "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token } }",
		"variables": map[string]string{"key": key},
	})
	if err != nil {
		return "", err
	}
	answer, err := http.Post("http://"+address+"/v1/graphql/", "application/json", bytes.NewReader(question))
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var reply struct {
		Data struct{ ObtainServiceToken struct{ Token string } }
	}
	if err := json.NewDecoder(answer.Body).Decode(&reply); err != nil {
		return "", err
	}
	if reply.Data.ObtainServiceToken.Token == "" {
		return "", errors.New("the service gave no token")
	}
	return reply.Data.ObtainServiceToken.Token, nil
}

// waitFor gives a server ten seconds and a little more.
func waitFor(ctx context.Context, url string) error {
	for range 200 {
		if answer, err := http.Get(url); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s does not get ready", url)
}

// freeAddress is one that nobody had a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}
