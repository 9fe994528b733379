package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

// CopiedTable is a table that was copied, with its number of rows and a hash of them.
type CopiedTable = engine.TransferredTable

// notCopied lists the tables whose rows stay behind, with the reason.
var notCopied = map[string]string{
	"schema_step":     "the copy has the steps it was made with",
	"commit_mark":     "it is for clients that wait for a commit of the other database",
	"replica":         "the servers of the other database have stopped",
	"unfinished_copy": "it says that this copy is not finished",
}

// seededTables are the tables that have a row from the start.
var seededTables = []string{
	"audit_chain", "claim_counter", "database_clock", "database_identity", "mail_sender", "purge_schedule", "scrub", "search_index",
}

// Copy copies everything from a database into another one of either kind, which has no
// data yet. Nobody can write to the first one meanwhile. No server can use the second one
// before FinishCopy. It returns the tables, which were compared row by row, and the mark
// of the copy.
func Copy(ctx context.Context, from, to string, options Options, progress func(doing string, done, of int64)) ([]CopiedTable, int64, error) {
	source, err := engine.Parse(from)
	if err != nil {
		return nil, 0, err
	}
	target, err := engine.Parse(to)
	if err != nil {
		return nil, 0, err
	}
	// The source is opened as a server would open it: with its keys, and not if it is a copy
	// that must be restored first.
	options.ReadOnly = true
	store, err := Open(ctx, from, options)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", source, err)
	}
	if err := errors.Join(store.CheckServable(ctx), store.Close()); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", source, err)
	}
	opening := options.engine()
	opening.BeforeSteps = refuseServers
	copying := engine.TransferOptions{From: opening, To: opening, Seeded: seededTables, Marker: "unfinished_copy", Mark: time.Now().UnixMicro(), Progress: progress}
	for table := range notCopied {
		copying.Without = append(copying.Without, table)
	}
	tables, err := engine.Transfer(ctx, source, target, copying)
	return tables, copying.Mark, translate(err)
}

// refuseServers refuses to copy from or into a PostgreSQL database that servers use. A file
// has a lock instead.
func refuseServers(ctx context.Context, db *sql.DB) error {
	running, err := runningServers(ctx, db)
	if err == nil && running != "" {
		err = fmt.Errorf("servers are using it: %s; stop them first (one that was killed counts for %s more)", running, limits.ReplicaSeen)
	}
	return err
}
