package engine

import (
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// A schema step may change what writers have to write. A program that does not know
// the step would write wrong data, such as sums without a new part. So every step
// begins by raising the lowest step that commit_mark accepts, with the texts below:
//
//	postgres: ALTER TABLE commit_mark DROP CONSTRAINT commit_mark_step,
//	            ADD CONSTRAINT commit_mark_step CHECK (step >= 2) NOT VALID;
//	sqlite:   DROP TRIGGER commit_mark_step;
//	          CREATE TRIGGER commit_mark_step BEFORE INSERT ON commit_mark WHEN NEW.step < 2
//	            BEGIN SELECT RAISE(ABORT, 'the schema is newer than this program'); END;
//
// PostgreSQL's ALTER TABLE waits for transactions that have inserted their mark, and
// all others insert theirs after the step and are refused. So nothing of an older
// program is committed after the step. This costs no round trip, because every
// writing transaction inserts a mark anyway.

// The codes with which a database refuses the mark of an older program.
const (
	postgresFenced = "23514" // check violation; commit_mark has no other check
	sqliteFenced   = "1811"  // a trigger raised an error
)

// errOutdated means that the schema was upgraded while this program was running.
var errOutdated = &Fault{kind: faultUnavailable,
	cause: fmt.Errorf("%w: its schema was upgraded, and this program is too old to write to it; start the new version", ErrUnavailable)}

// lastStep returns the number of the last schema step. Both folders have the same
// steps.
func lastStep(steps fs.FS) (int64, error) {
	files, err := fs.ReadDir(steps, postgresDialect.folder)
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(files[len(files)-1].Name())
}
