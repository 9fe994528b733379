package sqlstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/pack"
	"landfall/internal/store/sqlset"
)

// WithLongQueue lets callers wait in the queue for as long as a busy machine
// needs: these tests want many callers served, not refused.
func WithLongQueue(options Options) Options {
	options.queueTimeout = 30 * time.Second
	return options
}

// Force changes rows without going through the port, to create states that other
// programs or another version of this one may leave behind.
func (s *Store) Force(ctx context.Context, text string, args ...any) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, text, args...)
		return err
	})
}

// ForceWhile is Force for statements and a function that runs before the commit.
func (s *Store) ForceWhile(ctx context.Context, fn func() error, texts ...string) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		for _, text := range texts {
			if _, err := t.exec(ctx, text); err != nil {
				return err
			}
		}
		return fn()
	})
}

// ForceAll is Force for several statements in one transaction.
func (s *Store) ForceAll(ctx context.Context, texts ...string) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		for _, text := range texts {
			if _, err := t.exec(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForceRead runs a statement in a view.
func (s *Store) ForceRead(ctx context.Context, text string) error {
	return s.View(ctx, func(v landfall.View) error {
		session := v.(*view).txSession
		rows, err := session.query(ctx, text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return session.fail(rows.Err())
	})
}

// Count returns the single number that a query yields.
func (s *Store) Count(ctx context.Context, text string, args ...any) (count int, err error) {
	err = s.View(ctx, func(v landfall.View) error {
		return v.(*view).one(ctx, text, args, []any{&count})
	})
	return count, err
}

// Texts returns the single column of a query's rows.
func (s *Store) Texts(ctx context.Context, text string) (found []string, err error) {
	err = s.View(ctx, func(v landfall.View) error {
		found, err = collect(ctx, v.(*view).txSession, func(scan scanner, text *string) error { return scan(text) }, text)
		return err
	})
	return found, err
}

// SweepMarks deletes old commit marks now.
func (s *Store) SweepMarks(ctx context.Context) error { return s.db.DeleteOldMarks(ctx) }

// CountPostStatements posts to an account and returns how many statements that
// took.
func (s *Store) CountPostStatements(ctx context.Context, wanted landfall.Posting) (count int, err error) {
	err = s.update(ctx, wanted.Key, func(t *tx) error {
		before := t.engine.Statements()
		mine := &postCall{Key: wanted.Key, Wanted: &posting{Posting: wanted}}
		err := t.post(ctx, []*postCall{mine})
		count = t.engine.Statements() - before
		if err == nil {
			err = mine.Err
		}
		return err
	})
	return count, err
}

// UpdateAccount updates an account as a posting does that found a ledger of the
// given length.
func (s *Store) UpdateAccount(ctx context.Context, id, length int64) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		rows := newAccountRows(nil)
		rows.updates.Add(id, length, int64(0), length, int64(0), int64(0), int64(0), int64(0))
		return t.write(ctx, rows.all()...)
	})
}

// ListText returns the query of a list.
func ListText(filter landfall.ProcessFilter) string { return lists[filter] }

// MixedListText is the query of the list after a page with a pending process.
var MixedListText = listOfMixed

// FailedText is the query of the list of failures.
var FailedText = failedProcesses(false)

// Plan returns the database's plan for a query with these numbers and strings,
// prepared as it is for callers. PostgreSQL also executes it.
func (s *Store) Plan(ctx context.Context, text string, args ...any) (plan []string, err error) {
	err = s.View(ctx, func(v landfall.View) error {
		plan, err = v.(*view).plan(ctx, text, args...)
		return err
	})
	return plan, err
}

func (s *txSession) plan(ctx context.Context, text string, args ...any) (plan []string, err error) {
	line := func(scan scanner, line *string) error { return scan(line) }
	if !s.engine.Arrays() {
		line = func(scan scanner, line *string) error { return scan(new(int), new(int), new(int), line) }
		return collect(ctx, s, line, "EXPLAIN QUERY PLAN "+text, args...)
	}
	if err := s.ignore(ctx, `PREPARE probe AS `+text); err != nil {
		return nil, err
	}
	values := make([]string, len(args))
	for i, arg := range args {
		// An array is passed as a constant.
		if array, is := arg.(engine.Column); is {
			text, err := array.TextValue()
			if err != nil {
				return nil, err
			}
			arg = text.String
		}
		values[i] = "'" + strings.ReplaceAll(fmt.Sprint(arg), "'", "''") + "'"
	}
	plan, err = collect(ctx, s, line, `EXPLAIN (ANALYZE, BUFFERS) EXECUTE probe (`+strings.Join(values, ", ")+`)`)
	return plan, errors.Join(err, s.ignore(ctx, `DEALLOCATE probe`))
}

// ignore runs a statement that returns no rows.
func (s *txSession) ignore(ctx context.Context, text string) error {
	rows, err := s.query(ctx, text)
	if err != nil {
		return err
	}
	return s.fail(rows.Close())
}

// EntriesText returns the query that looks up transactions, and its parameters
// for some transactions of one account.
func (s *Store) EntriesText(account int64, ids ...string) (text string, args []any, err error) {
	var wanted []any
	for _, id := range ids {
		wanted = append(wanted, account, id)
	}
	return s.listQueryText(entriesWanted, wanted)
}

// NoteTexts returns the queries that look up a note on an account with many: one
// for the first with its text, and one for those of its second.
func (s *Store) NoteTexts(account int64, note landfall.Note) (first, timed string, firstArgs, timedArgs []any, err error) {
	sought := (*sealer)(nil).noteLookups([]landfall.Note{note})[0]
	first, firstArgs, err = s.listQueryText(firstNotesWanted, []any{account, sought.digest})
	if err == nil {
		timed, timedArgs, err = s.listQueryText(timedNotesWanted, []any{account, sought.digest, sought.second})
	}
	return first, timed, firstArgs, timedArgs, err
}

// listQueryText returns a list query and its arguments as constants, as Plan
// needs them.
func (s *Store) listQueryText(query sqlset.ListQuery, wanted []any) (text string, args []any, err error) {
	err = s.View(context.Background(), func(v landfall.View) error {
		text, args, err = query.For(v.(*view).engine, wanted)
		return err
	})
	return text, args, err
}

// WithLater returns the options of a later program, which has further schema steps.
func WithLater(options Options, later map[string]string) Options {
	options.steps = laterSteps(later)
	return options
}

// ApplyLater applies the steps of this program and further ones of a later
// program.
func ApplyLater(ctx context.Context, url string, later map[string]string) ([]SchemaStep, error) {
	return SchemaApply(ctx, url, WithLater(Options{}, later))
}

// OpenLater opens a database as the later program does.
func OpenLater(ctx context.Context, url string, later map[string]string) (*Store, error) {
	return Open(ctx, url, WithLater(Options{}, later))
}

func laterSteps(later map[string]string) fs.FS {
	all := fstest.MapFS{}
	for path, text := range later {
		all[path] = &fstest.MapFile{Data: []byte(text)}
	}
	paths, _ := fs.Glob(schemaSteps(), "*/*.sql") // the pattern is valid
	for _, path := range paths {
		text, err := fs.ReadFile(schemaSteps(), path)
		if err != nil {
			panic(err) // it is embedded
		}
		all[path] = &fstest.MapFile{Data: text}
	}
	return all
}

// Tables returns the names of all tables.
func Tables() []string {
	return append(slices.Sorted(maps.Keys(tableRules)), plainTables...)
}

// CopyForTest copies a SQLite database.
func CopyForTest(ctx context.Context, url, file string) error {
	name, err := engine.Parse(url)
	if err != nil {
		return err
	}
	return engine.CopyFile(ctx, name, file)
}

// InspectDamaged damages the database, returns what an inspection finds, and
// undoes the damage.
func (s *Store) InspectDamaged(ctx context.Context, damage string) (found []landfall.Finding, err error) {
	undone := errors.New("undone")
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		if _, err := t.exec(ctx, damage); err != nil {
			return err
		}
		if found, err = t.inspect(ctx, 0, 1<<60); err != nil {
			return err
		}
		return undone
	})
	if errors.Is(err, undone) {
		err = nil
	}
	return found, err
}

// These are queries that run very often, or over many mails.
const (
	SendableText     = sendableText
	DueMailsText     = dueMails
	WaitingMailsText = waitingMails
	NextInLineText   = nextDeliveryText
)

// ClaimableText is the query for webhooks that are due.
var ClaimableText = webhookTable.claimable + ` LIMIT $2`

// MailPage returns the query of a page of mails.
func MailPage(query landfall.MailQuery) (text string, args []any) {
	which, args := mailPage(query)
	return mailRecord + which, args
}

// These are the queries of the search, of all suppliers and of some.
var (
	searchAll         = &searchState{}
	searchSome        = &searchState{suppliers: "1, 2"}
	FindNumbersText   = searchAll.of(findNumbers, "p.supplier_id")
	FindTailsText     = searchSome.of(findTails, "p.supplier_id")
	FindExternalsText = findExternals
	FindExternalText  = searchSome.of(findExternal, "s.id")
	SuppliersWithText = searchAll.of(suppliersWith, "s.id")
	FindTermsText     = findTerms
	FindTermsOfText   = strings.ReplaceAll(findTermsOf, "{of}", "t.supplier_id IN (1, 2)")
)

// Keyed is a statement that finds accounts by supplier and number, with its
// arguments.
type Keyed struct {
	Name, Text string
	Wanted     []any
}

// KeyedStatements returns the statements that only read, and those that lock with
// the locking removed.
func KeyedStatements() []Keyed {
	return []Keyed{
		{"the reasons of a staging", stageReasonsQuery.Arrays(), []any{"{S,S}", "{1,2}"}},
		{"the reasons of a claim", claimReasonsQuery.Arrays(), []any{"{S,S}", "{1,2}", "{T,T}"}},
		{"a peek", peekQuery.Arrays(), []any{"{S,S}", "{1,2}", "{T,T}"}},
		{"the accounts to be indexed", stagedKeysQuery.Arrays(), []any{"{S,S}", "{1,2}"}},
		{"the lock of an undo", withoutLock(undoLockQuery.Arrays()), []any{"{S,S}", "{1,2}"}},
	}
}

// withoutLock removes the locking from a query, so that a reader may run it.
func withoutLock(text string) string { return strings.ReplaceAll(text, "{for_update}", "") }

// PurgePage is the query of one page of a purge, with arguments, and the alias of
// the table that it walks.
type PurgePage struct {
	Name, Text, Alias string
	Args              []any
}

// PurgePages returns the queries of all pages of a purge.
func PurgePages() []PurgePage {
	one, keep, name, limit := int64(1), int64(1), "", int64(purgeBatch)
	pages := []PurgePage{
		{"mails", settledMails, "held", []any{"S", keep, one, one, limit}},
		{"events", loggedPage, "e", []any{"S", keep, one, one, limit}},
		{"refused deliveries", refusedPage, "held", []any{one, keep, name, one, limit}},
		{"ended runs", endedRuns, "r", []any{one, keep, one, limit}},
		{"purged runs", purgedRun, "r", []any{one, one}},
		{"failures of purged runs", runFailureRows.page, "d", []any{one, name, limit}},
		{"lists of purged runs", runListedRows.page, "d", []any{one, name, limit}},
		{"members of purged runs", runMemberRows.page, "d", []any{one, one, limit}},
		{"slices of purged runs", runSliceRows.page, "d", []any{one, one, limit}},
	}
	for _, documents := range []stagedPurge{
		{condition: importedStaged, due: supersededLong}, {condition: pendingStaged, due: withoutAccount}, {condition: skippedStaged, due: withoutAccount},
	} {
		pages = append(pages, PurgePage{"documents where " + documents.condition, documents.page(), "held", []any{one, keep, one, name, limit}})
	}
	for _, table := range []failureTable{failedAttempts, skippedAttempts, refusedBefore, failedInRuns} {
		pages = append(pages, PurgePage{"failures in " + table.table, table.page, "held", []any{one, keep, one, name, limit}})
	}
	return pages
}

// SeededTables and NotCopied are the tables that Copy treats differently.
var SeededTables, NotCopied = seededTables, notCopied

// UnpackedAhead returns how many records of a batch are unpacked before they are
// wanted, and how many accounts of it have their whole record in the end.
func (s *Store) UnpackedAhead(document []byte, count int) (ahead, whole int, err error) {
	kept, err := pack.Pack(document)
	if err != nil {
		return 0, 0, err
	}
	hash := sha256.Sum256(document)
	batch := make([]*wholeHead, count)
	for i := range batch {
		batch[i] = &wholeHead{kept: kept, hash: hash[:]}
	}
	s.unpackWhole(batch, nil)
	for _, head := range batch {
		if len(head.Record) > 0 {
			ahead++
		}
	}
	s.yieldWhole(batch, nil, func(account landfall.WholeAccount, failed error) bool {
		if bytes.Equal(account.Record, document) {
			whole++
		}
		err = failed
		return failed == nil
	})
	return ahead, whole, err
}
