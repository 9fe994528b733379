package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// setting is one of PostgreSQL's settings.
type setting struct{ name, value string }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// sessionSettings are the settings that our statements rely on.
func sessionSettings(limits Limits) []setting {
	return []setting{
		{"statement_timeout", milliseconds(limits.Statement)},
		{"lock_timeout", milliseconds(limits.BatchLock)},
		{"idle_in_transaction_session_timeout", milliseconds(2 * limits.Transaction)},
		// Our statements look rows up by key: one plan fits all values.
		{"plan_cache_mode", "force_generic_plan"},
		// A plan made while a table was small is kept for long, so it must be good
		// for a large table too: one that reads few rows.
		{"enable_seqscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
		{"cpu_tuple_cost", "1"}, {"random_page_cost", "0.1"},
		// With these costs, PostgreSQL would compile most plans, for tenths of a second each,
		// and start two more processes for every page of a long list, for 15 ms each.
		{"jit", "off"}, {"max_parallel_workers_per_gather", "0"},
		// A statement that waited for a lock must see what the other transaction wrote.
		{"default_transaction_isolation", "read committed"},
	}
}

// negotiate finds out whether the server accepts our settings when a connection
// starts, and returns the configuration to use. A pooler in between may refuse or
// ignore them; then every transaction sets them, which costs no round trip but
// some work.
func negotiate(ctx context.Context, config *pgx.ConnConfig, options Options, settings []setting) (*pgx.ConnConfig, bool, error) {
	config = config.Copy()
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = options.Application
	}
	direct := config.Copy()
	for _, s := range settings {
		direct.RuntimeParams[s.name] = s.value
	}
	held, err := checkSettings(ctx, newPGPool(direct, options, &generation{}, 1), settings)
	if err == nil && held {
		return direct, true, nil
	}
	if err != nil && !startRefused(err) {
		return nil, false, connectError(err)
	}
	if _, err = checkSettings(ctx, newPGPool(config, options, &generation{}, 1), nil); err != nil {
		return nil, false, connectError(err)
	}
	return config, false, nil
}

// startRefused reports whether a pooler refused a setting.
func startRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "08P01" // protocol violation
}

// checkSettings connects and reports whether the settings are in effect.
func checkSettings(ctx context.Context, p *pgPool, settings []setting) (bool, error) {
	c, err := p.connect(ctx)
	if err != nil {
		return false, err
	}
	defer c.drop()
	for _, s := range settings {
		var same bool
		// The server compares, since it writes 8000ms as 8s.
		err := c.QueryRow(ctx, `SELECT setting = $2 OR current_setting(name) = $2 OR setting || unit = $2
			FROM pg_settings WHERE name = $1`, s.name, s.value).Scan(&same)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// with returns a statement that applies the settings which the connection was not
// started with, and those of this transaction alone.
func (m *postgresDB) with(extra ...setting) string {
	if len(m.session)+len(extra) == 0 {
		return ""
	}
	seen := map[string]bool{}
	var parts []string
	for _, list := range [][]setting{extra, m.session} {
		for _, s := range list {
			if !seen[s.name] {
				seen[s.name] = true
				// Names and values are constants, so they need no quoting.
				parts = append(parts, "set_config('"+s.name+"', '"+s.value+"', true)")
			}
		}
	}
	return "SELECT " + strings.Join(parts, ", ")
}
