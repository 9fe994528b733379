package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// errCopied is returned when a server starts on a database that was restored
// from a backup: keys that were revoked since would be valid again without
// anyone noticing.
var errCopied = errors.New("this database is a copy that was put back or moved, and keys that were revoked since the copy was made " +
	"would be good again: run 'landfall restore' first, which says what can be done about them")

// errUnfinished is returned when a server starts on a copy that is not complete.
var errUnfinished = errors.New("this database is an unfinished copy of another one: run 'landfall copy' again, which starts from the beginning")

// checkIdentity runs once when a server starts. It refuses a copy, and stores
// the fingerprint of the database if there is none yet.
func (s *Store) checkIdentity(ctx context.Context) error {
	here, err := s.fingerprint(ctx)
	if err != nil {
		return err
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		was, err := t.servedFingerprint(ctx, here, `{for_update}`)
		if err != nil || here == "" || was != "" {
			return err
		}
		_, err = t.exec(ctx, `UPDATE database_identity SET fingerprint = $1 WHERE id = 1`, here)
		return err
	})
}

// CheckServable returns an error if a server may not start on this database. It
// changes nothing.
func (s *Store) CheckServable(ctx context.Context) error {
	here, err := s.fingerprint(ctx)
	if err != nil {
		return err
	}
	return s.View(ctx, func(v landfall.View) error {
		_, err := v.(*view).servedFingerprint(ctx, here, ``) //nolint:forcetypeassert // View hands out no other
		return err
	})
}

// servedFingerprint returns the fingerprint under which the database was served
// before, and refuses a copy.
func (v *view) servedFingerprint(ctx context.Context, here, hold string) (string, error) {
	var was sql.NullString
	var copied sql.NullInt64
	// An unfinished copy may have no identity yet.
	unfinished, err := v.unfinishedCopy(ctx)
	if err == nil && !unfinished {
		err = v.one(ctx, `SELECT fingerprint, copied_at FROM database_identity held WHERE id = 1 `+hold, nil, []any{&was, &copied})
	}
	switch {
	case err != nil:
		return "", err
	case unfinished:
		return "", errUnfinished
	case copied.Valid:
		return "", fmt.Errorf("%w (it was made on %s)", errCopied, moment(copied.Int64).Format("2006-01-02 at 15:04:05 UTC"))
	case here != "" && was.Valid && was.String != here:
		return "", errCopied
	}
	return was.String, nil
}

// fingerprint distinguishes this database from a copy of it elsewhere. A dump
// that was loaded into another database has another oid, and another server has
// another system identifier. A standby has the identifier of its primary. A
// SQLite file has no fingerprint.
func (s *Store) fingerprint(ctx context.Context) (string, error) {
	if s.db.Embedded() {
		return "", nil
	}
	here := ""
	err := s.View(ctx, func(v landfall.View) error {
		//nolint:forcetypeassert // View hands out no other
		return v.(*view).one(ctx, `SELECT system_identifier::text || '/' || (SELECT oid::text FROM pg_database WHERE datname = current_database())
			FROM pg_control_system()`, nil, []any{&here})
	})
	if errors.Is(err, landfall.ErrUnavailable) {
		return "", err
	}
	return here, nil // a server that does not reveal its identity is trusted
}

// markCopy marks a backup as a copy.
func (t *tx) markCopy(ctx context.Context) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE database_identity SET copied_at = {now} WHERE id = 1`))
}

// unfinishedCopy reports whether 'landfall copy' has not finished.
func (v *view) unfinishedCopy(ctx context.Context) (unfinished bool, err error) {
	err = v.one(ctx, `SELECT EXISTS (SELECT 1 FROM unfinished_copy)`, nil, []any{&unfinished})
	return unfinished, err
}

// FinishCopy allows serving a copy that 'landfall copy' made. Its place is new; everything
// else about it is as in the original. If another copy has begun since, or a server uses
// the copy already, it refuses.
func (t *tx) FinishCopy(ctx context.Context, mark int64) error {
	servers, err := t.Replicas(ctx, limits.ReplicaSeen)
	if err == nil && len(servers) > 0 {
		err = fmt.Errorf("a server on %s started on the copy before it was finished: stop it, and run 'landfall copy' again", servers[0].Host)
	}
	if err != nil {
		return err
	}
	if err := orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM unfinished_copy WHERE at <= $1`, mark)); err != nil {
		return err
	}
	if unfinished, err := t.unfinishedCopy(ctx); err != nil || unfinished {
		return cmp.Or(err, errUnfinished)
	}
	_, err = t.exec(ctx, `UPDATE database_identity SET fingerprint = NULL WHERE id = 1`)
	return err
}

// AdmitCopy allows serving a copy from its current location.
func (t *tx) AdmitCopy(ctx context.Context) error {
	if unfinished, err := t.unfinishedCopy(ctx); err != nil || unfinished {
		return cmp.Or(err, errUnfinished)
	}
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE database_identity SET copied_at = NULL, fingerprint = NULL WHERE id = 1`))
}

// DatabaseHealth returns what is known about standbys, backups and keys.
func (v *view) DatabaseHealth(ctx context.Context) (found landfall.DatabaseHealth, err error) {
	if v.engine.Arrays() {
		err = v.one(ctx, `SELECT count(*) FROM pg_stat_replication`, nil, []any{&found.Standbys})
	}
	if err == nil {
		err = v.one(ctx, `SELECT backed_up_at, (SELECT min(expires_at) FROM api_key
				WHERE revoked_at IS NULL AND expires_at > (SELECT {now}) AND used_at > (SELECT {now}) - 86400000000)
			FROM database_identity WHERE id = 1`, nil, []any{instantInto{&found.BackedUpAt}, instantInto{&found.KeyEndsAt}})
	}
	return found, err
}

// RecordBackup records that a backup was made.
func (t *tx) RecordBackup(ctx context.Context) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE database_identity SET backed_up_at = {now} WHERE id = 1`))
}

// EndTokens ends every login, of API callers and of the console.
func (t *tx) EndTokens(ctx context.Context) (int, error) {
	for _, text := range []string{`DELETE FROM token_family`, `DELETE FROM operator_session`} {
		if _, err := t.exec(ctx, text); err != nil {
			return 0, err
		}
	}
	count, err := t.exec(ctx, `DELETE FROM service_token`)
	return int(count), err
}

// Clock returns the database's time.
func (s *Store) Clock(ctx context.Context) (at time.Time, err error) {
	var micros int64
	err = s.stream(ctx, func(v *view) error { return v.one(ctx, `SELECT {now}`, nil, []any{&micros}) })
	return moment(micros), err
}

// Instance returns the random name of this installation.
func (v *view) Instance(ctx context.Context) (name string, err error) {
	err = v.one(ctx, `SELECT instance FROM database_identity WHERE id = 1`, nil, []any{&name})
	return name, err
}
