package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// freshPostgres creates an empty database in the private cluster.
func (m *harness) freshPostgres(ctx context.Context, name string) (string, error) {
	if err := m.psql(ctx, m.postgres.URL, "CREATE DATABASE bench_"+name); err != nil {
		return "", err
	}
	address, err := url.Parse(m.postgres.URL)
	if err != nil {
		return "", err
	}
	address.Path = "/bench_" + name
	return address.String(), nil
}

// psql runs statements and discards their output.
func (m *harness) psql(ctx context.Context, database string, statements ...string) error {
	command := exec.CommandContext(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", database)
	command.Stdin = strings.NewReader(strings.Join(statements, ";\n") + ";\n")
	// Discarded, because copying rows into memory would be measured too.
	output, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()
	command.Stdout = output
	var complaint strings.Builder
	command.Stderr = &complaint
	if err := command.Run(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, complaint.String())
	}
	return nil
}

// ask returns the number that a query returns.
func (m *harness) ask(ctx context.Context, database, query string) (float64, error) {
	output, err := exec.CommandContext(ctx, "psql", "-X", "-q", "-A", "-t", "-c", query, database).Output()
	if err != nil {
		return 0, fmt.Errorf("psql: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
}

// tps matches the rate in the output of pgbench.
var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// pgbench runs a script with as many clients as the other arm has. The document
// is a parameter.
func (m *harness) pgbench(ctx context.Context, database, script string, length time.Duration) (sample, error) {
	return m.pgbenchOf(ctx, database, script, length, connections)
}

// pgbenchOf does the same with another number of clients.
func (m *harness) pgbenchOf(ctx context.Context, database, script string, length time.Duration, clients int) (sample, error) {
	file := filepath.Join(m.folder, "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return sample{}, err
	}
	// Prepared statements, as drivers use them, and no vacuum first. pgbench
	// accepts whole seconds only.
	command := exec.CommandContext(ctx, "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(length.Seconds()))), "-D", "document="+string(appendAccount(1, nil)), "-f", file, database)
	output, err := command.CombinedOutput()
	if err != nil {
		return sample{}, fmt.Errorf("pgbench: %w: %s", err, output)
	}
	found := tps.FindSubmatch(output)
	if found == nil {
		return sample{}, fmt.Errorf("pgbench printed no rate: %s", output)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	return sample{rate: rate}, err
}
