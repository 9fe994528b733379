package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"landfall/internal/lib/limits"
)

// SchemaStep is one change of the schema.
type SchemaStep struct {
	Version int64
	Name    string
	Applied bool
}

// SchemaStatus lists the steps that this program knows, and which of them the
// database has. It changes nothing, creates no file, and refuses a schema that is
// newer than this program.
func SchemaStatus(ctx context.Context, name Name, options Options) ([]SchemaStep, error) {
	return withSchema(ctx, name, options, false, func(s *schema) error {
		_, err := s.current(ctx)
		return err
	})
}

// SchemaApply brings the database's schema up to date.
func SchemaApply(ctx context.Context, name Name, options Options) ([]SchemaStep, error) {
	options.ApplySchema = true
	return withSchema(ctx, name, options, true, func(s *schema) error { return s.upgrade(ctx, true) })
}

func withSchema(ctx context.Context, name Name, options Options, create bool, work func(*schema) error) ([]SchemaStep, error) {
	s, err := name.target.schema(ctx, options.withDefaults(), create)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close() }() // it only read, or has committed
	if err := work(s); err != nil {
		return nil, err
	}
	return s.status(ctx)
}

// schema reads and applies steps.
type schema struct {
	dialect *dialect
	db      *sql.DB
	goose   *goose.Provider
	// lock keeps other processes from changing the schema until unlock.
	lock    func(context.Context) (unlock func() error, err error)
	last    int64 // the last step this program knows
	options Options
}

func newSchema(
	d *dialect, gooseDialect goose.Dialect, options Options, db *sql.DB, lock func(context.Context) (func() error, error),
) (*schema, error) {
	folder, err := fs.Sub(options.Steps, d.folder)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	provider, err := goose.NewProvider(gooseDialect, db, folder, goose.WithTableName("schema_step"))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	sources := provider.ListSources()
	return &schema{dialect: d, db: db, goose: provider, lock: lock, last: sources[len(sources)-1].Version, options: options}, nil
}

func (s *schema) close() error { return s.goose.Close() }

// versions returns the last step of the database and that of this program.
func (s *schema) versions(ctx context.Context) (has, knows int64, err error) {
	has, err = s.has(ctx)
	return has, s.last, err
}

// has reads the version without creating goose's table.
func (s *schema) has(ctx context.Context) (int64, error) {
	var there sql.NullString
	row := s.db.QueryRowContext(ctx, s.dialect.text(`SELECT {schema_table}`))
	if err := row.Scan(&there); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, s.dialect.wrap(err)
	}
	if !there.Valid {
		return 0, nil
	}
	version, err := s.goose.GetDBVersion(ctx)
	return version, s.dialect.wrap(err)
}

// upgrade applies the missing steps under the lock, if allowed.
func (s *schema) upgrade(ctx context.Context, apply bool) error {
	current, err := s.current(ctx)
	if err != nil || current {
		return err
	}
	if !apply {
		if has, err := s.has(ctx); err == nil && has == 0 {
			return fmt.Errorf("the %s database has no tables of Landfall yet: run 'landfall schema apply'", s.dialect.name)
		}
		return fmt.Errorf("the %s schema is older than this program: run 'landfall schema apply'", s.dialect.name)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the lock ends with its connection anyway
	// Another process may have done it meanwhile.
	if current, err = s.current(ctx); err != nil || current {
		return err
	}
	has, _, err := s.versions(ctx)
	if err == nil && has > 0 && s.options.BeforeSteps != nil {
		err = s.options.BeforeSteps(ctx, s.db)
	}
	for err == nil && has < s.last {
		if err = s.stepRetried(ctx, has); err == nil {
			has, _, err = s.versions(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot bring the schema up to date: %w", s.dialect.wrap(err))
	}
	return nil
}

// stepTries is how often a step is tried that ran into a deadlock or a lock.
const stepTries = 10

// stepRetried applies the step after another one. A step locks tables in its own
// order and may run into a deadlock with a command, or wait too long for a lock; then
// nothing of it remains, and it is tried again.
func (s *schema) stepRetried(ctx context.Context, has int64) error {
	var step SchemaStep
	for _, source := range s.goose.ListSources() {
		if source.Version > has {
			step = SchemaStep{Version: source.Version, Name: source.Path}
			break
		}
	}
	report := func(took time.Duration) {
		if s.options.OnStep != nil {
			s.options.OnStep(step, took)
		}
	}
	report(0)
	for try := 1; ; try++ {
		done, err := s.goose.UpByOne(ctx)
		err = s.dialect.wrap(err)
		again := isFault(err, faultConflict) || isFault(err, faultLocked) || errorCode(err) == sqliteBusy
		if !again || try == stepTries {
			if err == nil {
				step.Applied = true
				report(max(done.Duration, 1))
			}
			return err
		}
		select {
		case <-ctx.Done():
			return callerGone(ctx.Err())
		case <-time.After(time.Duration(try) * limits.SchemaStepRetry):
		}
	}
}

// current reports whether there is nothing to do. It refuses a newer schema, into
// which this program might write wrong data.
func (s *schema) current(ctx context.Context) (bool, error) {
	has, knows, err := s.versions(ctx)
	if err != nil {
		return false, err
	}
	if has > knows {
		return false, fmt.Errorf("the %s schema has step %d, this program knows steps up to %d: use a newer program",
			s.dialect.name, has, knows)
	}
	return has == knows, nil
}

func (s *schema) status(ctx context.Context) ([]SchemaStep, error) {
	has, _, err := s.versions(ctx)
	if err != nil {
		return nil, err
	}
	var list []SchemaStep
	for _, source := range s.goose.ListSources() {
		list = append(list, SchemaStep{Version: source.Version, Name: source.Path, Applied: source.Version <= has})
	}
	return list, nil
}
