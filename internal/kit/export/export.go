// Package export copies the accounts of a supplier from a server into files: lines of JSON, tables
// or a book. An export that was interrupted continues where it stopped.
package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall/client"
	"landfall/internal/api/contract"
)

// Format is the form of the files.
type Format string

// The formats.
const (
	NDJSON  Format = "ndjson"  // whole accounts, as the server sends them
	CSV     Format = "csv"     // a table per entity
	Parquet Format = "parquet" // the same tables
	Book    Format = "book"    // what an import takes
)

// Formats lists all formats.
func Formats() []string { return []string{string(NDJSON), string(CSV), string(Parquet), string(Book)} }

// Options is what to export.
type Options struct {
	Supplier     string
	Folder       string
	Format       Format
	ChangedSince string // cursor of an earlier export, or ""
	Reason       string // for the server's audit
	Schema       *contract.Schema
	Key          []byte // of the pseudonyms; nil exports the data as it is
	Restart      bool   // ignore what an interrupted export has written
	Progress     func(accounts int)
}

// Result is what was exported.
type Result struct {
	Accounts int    `json:"accounts"`
	LeftOut  int    `json:"left_out"` // accounts that a book cannot have, because their record was erased
	Cursor   string `json:"cursor"`   // for the next export of what changes from now on
	Files    []File `json:"files"`
}

// File is a file of an export.
type File struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// checkpointPause is how often the progress is made durable.
const checkpointPause = time.Second

// maxOutage is how long an export waits for a server that does not answer.
const maxOutage = 10 * time.Minute

// accountSink writes accounts in a format.
type accountSink interface {
	// add adds the accounts of a page and returns how many were left out.
	add(*accountPage) (leftOut int, err error)
	// checkpoint makes everything durable that was added. It reports false if the format cannot do that
	// at this point.
	checkpoint() (bool, error)
	// finish makes everything durable and completes the files.
	finish() error
}

// Run exports accounts. If the folder has an interrupted export with the same options, it continues.
func Run(ctx context.Context, server *client.Client, order Options) (result Result, err error) {
	if !slices.Contains(Formats(), string(order.Format)) {
		return Result{}, fmt.Errorf("%q is not a format", order.Format)
	}
	j, err := openJournal(order)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	e := &exporter{server: server, order: order, journal: j, saved: time.Now()}
	e.sink = newSink(order, j)
	if err := e.copyAll(ctx); err != nil {
		return Result{}, err
	}
	if err := e.sink.finish(); err != nil {
		return Result{}, err
	}
	return j.finish()
}

func newSink(order Options, j *journal) accountSink {
	var hide *pseudonyms
	if order.Key != nil {
		hide = newPseudonyms(order.Key, order.Schema)
	}
	switch order.Format {
	case CSV:
		return newTableSink(order.Schema, hide, &csvWriter{journal: j})
	case Parquet:
		return newTableSink(order.Schema, hide, &parquetWriter{journal: j})
	case Book:
		return newBookSink(order, hide, j)
	case NDJSON:
	}
	return newLineSink(hide, j)
}

// exporter copies pages into a sink.
type exporter struct {
	server  *client.Client
	order   Options
	journal *journal
	sink    accountSink
	saved   time.Time // the last checkpoint
}

// copyAll copies all pages after the position of the journal. When a page is cut off, it continues
// from the last complete page.
func (e *exporter) copyAll(ctx context.Context) error {
	lastProgress, pause := time.Now(), 100*time.Millisecond
	early, endedAt := 0, -1
	for !e.journal.state.Read {
		before := e.journal.state.Accounts
		err := e.copyPages(ctx)
		if err == nil {
			continue
		}
		wait, temporary := client.Temporary(err)
		if _, ofFiles := errors.AsType[lastingError](err); ofFiles || !temporary || ctx.Err() != nil {
			return err
		}
		if cut, is := errors.AsType[pageError](err); is {
			if at := e.journal.state.Accounts + cut.accounts; at != endedAt {
				early, endedAt = 0, at
			}
			if early++; early == client.MaxEarlyEnds {
				return &client.EndedEarlyError{Behind: cut.last, Err: cut.error}
			}
		}
		if e.journal.state.Accounts > before {
			lastProgress, pause = time.Now(), 100*time.Millisecond
		}
		if time.Since(lastProgress) > maxOutage {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(max(wait, pause)):
		}
		pause = min(2*pause, 10*time.Second)
	}
	return nil
}

// copyPages copies pages until the last one or an error. The state in memory is ahead of the durable
// one by what was added since the last checkpoint.
func (e *exporter) copyPages(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	state := &e.journal.state
	fetch := &fetcher{server: e.server, supplier: e.order.Supplier, folder: e.journal.folder, query: client.AccountQuery{
		ChangedSince: e.order.ChangedSince, After: state.After, Limit: pageAccounts, Reason: e.order.Reason,
		// Computing them takes a third of the server's time. Tables have a column for them.
		NoFingerprints: e.order.Format == NDJSON || e.order.Format == Book,
	}}
	for page, err := range fetch.pages(ctx) {
		if err != nil {
			return err
		}
		leftOut, err := e.sink.add(page)
		page.release()
		if err != nil {
			return lastingError{err}
		}
		if state.Cursor == "" {
			state.Cursor = page.cursor
		}
		state.After, state.Accounts, state.LeftOut, state.Read = page.next, state.Accounts+page.accounts, state.LeftOut+leftOut, page.next == ""
		e.order.Progress(state.Accounts)
		if time.Since(e.saved) < checkpointPause && !state.Read {
			continue
		}
		if err := e.checkpoint(); err != nil {
			return lastingError{err}
		}
		e.saved = time.Now()
	}
	return nil
}

// checkpoint makes the state durable, if the sink can make its files durable at this point.
func (e *exporter) checkpoint() error {
	possible, err := e.sink.checkpoint()
	if err != nil || !possible {
		return err
	}
	return e.journal.save()
}

// lastingError is an error of the files, which another attempt does not fix.
type lastingError struct{ error }

func (n lastingError) Unwrap() error { return n.error }
