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

// sessionSettings is what our statements rely on.
func sessionSettings(limits Limits) []setting {
	return []setting{
		{"statement_timeout", milliseconds(limits.Statement)},
		{"lock_timeout", milliseconds(limits.BatchLock)},
		{"idle_in_transaction_session_timeout", milliseconds(2 * limits.Transaction)},
		// Our statements look rows up by their keys: one plan fits all.
		{"plan_cache_mode", "force_generic_plan"},
		// A plan made while a table was small stays for long, so it must be one
		// that is good for a large table: one that looks at few rows.
		{"enable_seqscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
		{"cpu_tuple_cost", "1"}, {"random_page_cost", "0.1"},
		// Statements after a wait must see what was waited for.
		{"default_transaction_isolation", "read committed"},
	}
}

// greet finds out whether the server takes our settings when a connection
// starts, and gives the configuration to go on with. A pooler between us and it
// refuses them, or takes them and forgets them in silence: then they must be
// said in every transaction, where they cost no exchange but a little work.
func greet(ctx context.Context, config *pgx.ConnConfig, limits Limits, settings []setting) (*pgx.ConnConfig, bool, error) {
	config = config.Copy()
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = "landfall"
	}
	direct := config.Copy()
	for _, s := range settings {
		direct.RuntimeParams[s.name] = s.value
	}
	held, err := hears(ctx, newPool(direct, limits, &era{}, 1), settings)
	if err == nil && held {
		return direct, true, nil
	}
	if err != nil && !startRefused(err) {
		return nil, false, postgresTrouble(err)
	}
	if _, err = hears(ctx, newPool(config, limits, &era{}, 1), nil); err != nil {
		return nil, false, postgresTrouble(err)
	}
	return config, false, nil
}

// startRefused reports whether a pooler does not know a setting.
func startRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "08P01" // protocol violation
}

// hears connects and tells whether the settings are what was asked for.
func hears(ctx context.Context, p *pool, settings []setting) (bool, error) {
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

// with gives what a transaction has to be told: what this connection was not
// told at its start, and what is meant for this transaction alone.
func (m *postgres) with(extra ...setting) string {
	if len(m.session)+len(extra) == 0 {
		return ""
	}
	said := map[string]bool{}
	var parts []string
	for _, list := range [][]setting{extra, m.session} {
		for _, s := range list {
			if !said[s.name] {
				said[s.name] = true
				// Names and values are ours alone.
				parts = append(parts, "set_config('"+s.name+"', '"+s.value+"', true)")
			}
		}
	}
	return "SELECT " + strings.Join(parts, ", ")
}
