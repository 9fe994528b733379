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

// harness is what the measurements share: the program, a private PostgreSQL
// and a folder for files.
type harness struct {
	folder   string
	program  string
	profiler *profiler // nil: no profiling
	postgres *pgtest.Cluster
	floods   map[string]*flood       // results so far
	million  *longBulk               // result, if measured
	console  *consoleFigures         // results, if measured
	sieges   map[string]attackResult // results so far
}

// prepare builds the program like a release and starts PostgreSQL with larger
// limits: with the defaults checkpoints would dominate the figures. maxWAL is how
// much log PostgreSQL keeps on disk.
func prepare(ctx context.Context, maxWAL string) (*harness, error) {
	folder, err := os.MkdirTemp("", "landfall-bench-")
	if err != nil {
		return nil, err
	}
	m := &harness{folder: folder, program: filepath.Join(folder, "landfall"), floods: map[string]*flood{}, sieges: map[string]attackResult{}}
	// Like a release, with the CPU profile.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-pgo", profileOfBusyServers, "-o", m.program, "./cmd/landfall")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the program: %w\n%s", err, output)
	}
	if m.postgres, err = pgtest.Start("shared_buffers=512MB", "max_wal_size="+maxWAL); err != nil {
		return nil, err
	}
	return m, nil
}

// close removes everything: the databases of a whole run are many gigabytes.
func (m *harness) close() {
	_ = m.postgres.Stop()
	_ = os.RemoveAll(m.folder)
}

// clear removes the files of a measurement: the databases of all of them would
// not fit on a usual disk.
func (m *harness) clear(ctx context.Context) error {
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
		// Keep profiles, which are merged at the end, and the program.
		if path := filepath.Join(m.folder, entry.Name()); path != m.program && !strings.HasPrefix(entry.Name(), pieceName) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// service is a running server with a supplier and a token for it.
type service struct {
	address  string
	database string
	key      string
	token    string
	command  *exec.Cmd
}

// sqlite returns the name of a new file.
func (m *harness) sqlite(name string) string {
	return "sqlite:" + filepath.Join(m.folder, name+".db")
}

// serveNew creates a database and starts a server on it.
func (m *harness) serveNew(ctx context.Context, database func(context.Context, *harness) (string, error)) (*service, error) {
	name, err := database(ctx, m)
	if err != nil {
		return nil, err
	}
	return m.start(ctx, name)
}

// start sets up a database and starts a server on it.
func (m *harness) start(ctx context.Context, database string) (*service, error) {
	key, err := m.setUp(ctx, database)
	if err != nil {
		return nil, err
	}
	return m.serve(ctx, database, key)
}

// setUp creates a database with a supplier and returns an API key.
func (m *harness) setUp(ctx context.Context, database string) (key string, err error) {
	if _, err := m.tell(ctx, "schema", "apply", "--database", database); err != nil {
		return "", err
	}
	// With the program's own commands, so that the setup is that of an
	// operator.
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

// serve starts a server on a database that is set up.
func (m *harness) serve(ctx context.Context, database, key string, flags ...string) (_ *service, err error) {
	s := &service{database: database, key: key}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, m.program, append([]string{"serve", "--listen", s.address, "--database", database}, flags...)...)
	if m.profiler != nil {
		ops, err := freeAddress()
		if err != nil {
			return nil, err
		}
		s.command.Args = append(s.command.Args, "--ops-listen", ops)
		defer func() { go m.profiler.watch(ctx, ops) }()
	}
	// Each server overwrites the previous log, which is only for debugging.
	log, err := os.Create(filepath.Join(m.folder, "serve.log"))
	if err != nil {
		return nil, err
	}
	s.command.Stderr = log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	// Wait until the server is ready, not only listening.
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

// tell runs a command of the program and returns its output.
func (m *harness) tell(ctx context.Context, words ...string) (string, error) {
	command := exec.CommandContext(ctx, m.program, words...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("landfall %s: %w\n%s", strings.Join(words[:2], " "), err, stderr.String())
	}
	return string(output), nil
}

// hold suspends the server with all its background work, so that another one
// can be measured.
func (s *service) hold() { _ = s.command.Process.Signal(syscall.SIGSTOP) }

// goOn resumes a suspended server.
func (s *service) goOn() { _ = s.command.Process.Signal(syscall.SIGCONT) }

// stop waits for a clean shutdown, so that it does not disturb the next
// measurement.
func (s *service) stop() {
	s.goOn() // a suspended process does not handle signals
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// get sends one GET request. The caller closes the body.
func (s *service) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Token "+s.token)
	return http.DefaultClient.Do(request)
}

// load prepares the load generator for one of the server's paths.
func (s *service) load(path string, body func(int64, []byte) []byte) load {
	return load{address: s.address, connections: connections, next: post(path, s.token, body), want: "20"}
}

// obtainToken logs in as every client does, so that requests carry a real
// token.
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
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	var reply struct {
		Data struct{ ObtainServiceToken struct{ Token string } }
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return "", err
	}
	if reply.Data.ObtainServiceToken.Token == "" {
		return "", fmt.Errorf("the service gave no token: %s", body)
	}
	return reply.Data.ObtainServiceToken.Token, nil
}

// waitFor waits about ten seconds for a server.
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

// freeAddress returns an address that was free a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}
