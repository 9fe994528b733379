package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
)

// schemaLock is the advisory lock's number: "landfall" as a number nobody else
// is likely to have chosen.
const schemaLock = 0x6c616e6466616c6c

// upgrade brings the database's schema up to date, or refuses it.
func (p *postgresServer) upgrade(ctx context.Context, options Options) error {
	s, err := p.schema(options)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // it only read, or has committed
	return s.upgrade(ctx, options.ApplySchema)
}

// schema connects without a limit on statements: a step may take long. It does
// not wait long for locks, so that requests do not queue up behind it.
func (p *postgresServer) schema(options Options) (*schema, error) {
	db := p.pool(2, map[string]string{
		"application_name": "landfall schema", "lock_timeout": milliseconds(options.LockTimeout),
	})
	return newSchema(postgresDialect, goose.DialectPostgres, db, func(ctx context.Context) (func() error, error) {
		return lockSchema(ctx, db)
	})
}

// lockSchema takes an advisory lock that ends with its connection, so a killed
// process does not leave it behind. It asks again and again, since a waiting
// lock would be ended by the limit on locks.
func lockSchema(ctx context.Context, db *sql.DB) (func() error, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, postgresDialect.wrap(err)
	}
	s := &session{dialect: postgresDialect, runner: conn}
	for {
		var mine bool
		if err := s.one(ctx, `SELECT pg_try_advisory_lock($1)`, []any{int64(schemaLock)}, []any{&mine}); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if mine {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(postgresDialect.wrap(ctx.Err()), conn.Close())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return func() error {
		var was bool
		err := s.one(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, []any{int64(schemaLock)}, []any{&was})
		return errors.Join(err, conn.Close())
	}, nil
}
