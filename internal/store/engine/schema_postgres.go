package engine

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"landfall/internal/lib/limits"
)

// schemaLock is the number of the advisory lock: "landfall" in ASCII.
const schemaLock = 0x6c616e6466616c6c

// upgrade brings the database's schema up to date, or refuses it.
func (p *postgresServer) upgrade(ctx context.Context, options Options) error {
	s, err := p.schema(ctx, options, true)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // it only read, or has committed
	return s.upgrade(ctx, options.ApplySchema)
}

// schema connects without a statement timeout, because a step may take long. It
// sets a lock timeout, so that requests do not queue up behind it, unless a pooler
// refuses the setting.
func (p *postgresServer) schema(ctx context.Context, options Options, _ bool) (*schema, error) {
	config := p.config.Copy()
	config.ConnectTimeout = options.Limits.Connect
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = "landfall schema"
	}
	limited := config.Copy()
	limited.RuntimeParams["lock_timeout"] = milliseconds(options.Limits.Lock)
	password := stdlib.OptionBeforeConnect(func(ctx context.Context, config *pgx.ConnConfig) error {
		return setPassword(ctx, options.Password, config)
	})
	db := stdlib.OpenDB(*limited, password)
	err := db.PingContext(ctx)
	if startRefused(err) {
		_ = db.Close()
		db = stdlib.OpenDB(*config, password)
		err = db.PingContext(ctx)
	}
	if err != nil {
		return nil, errors.Join(connectError(err), db.Close())
	}
	db.SetMaxOpenConns(3)
	return newSchema(postgresDialect, goose.DialectPostgres, options, db, func(ctx context.Context) (func() error, error) {
		return lockSchema(ctx, db)
	})
}

// lockSchema takes an advisory lock that ends with a transaction. So a killed
// process does not leave it behind, and a pooler cannot give its connection to
// another client.
func lockSchema(ctx context.Context, db *sql.DB) (func() error, error) {
	for {
		held, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, postgresDialect.wrap(err)
		}
		var mine bool
		err = held.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)
			FROM set_config('idle_in_transaction_session_timeout', '0', true)`, int64(schemaLock)).Scan(&mine)
		if err == nil && mine {
			return held.Rollback, nil
		}
		err = errors.Join(postgresDialect.wrap(err), postgresDialect.wrap(held.Rollback()))
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, callerGone(ctx.Err())
		case <-time.After(limits.LockFilePoll):
		}
	}
}
