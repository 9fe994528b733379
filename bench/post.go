package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// postedAccounts is the number of accounts that notes and transactions are
// spread over.
const postedAccounts = 2_000

// posting is one kind of thing that is added to accounts: the request for a
// batch, and the row for each item.
type posting struct {
	path   string
	list   string // member that holds the batch
	item   string // one item, with NUMBER for what makes it unique
	insert string // the raw row: $1 is the account, $2 makes it unique
}

// notePosting and transactionPosting have what a caller sends and the rows that
// the service writes for it, so that the comparison writes the same rows.
var notePosting = posting{
	path: "/v1/data-import/notes/create/", list: "notes",
	item: `{"body":"Customer called about the meter reading of last month and was told NUMBER; no further action is needed.","created_at":"2026-07-05T10:00:00Z"}`,
	insert: `INSERT INTO note (account_id, digest, ordinal, body, document_paths, created_at, pinned, unpin_at)
		VALUES ($1, $2, $2, 'Customer called about the meter reading of last month and was told ' || CAST($2 AS TEXT) || '; no further action is needed.', NULL, 1783245600000000, FALSE, NULL)`,
}

var transactionPosting = posting{
	path: "/v1/data-import/transactions/create/", list: "transactions",
	item: `{"transaction_id":"T-NUMBER","transaction_date":"2026-07-05","amount":12.34,"type":"PAYMENT","payment_type":"DD_REGULAR_COLLECTION","reason":"ACCOUNT_CHARGE_PAYMENT","reference":"DD-77120"}`,
	insert: `INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, original_on, reason, note, document)
		VALUES ($1, 'T-' || CAST($2 AS TEXT), $2, 'transaction', FALSE, 1234, 1234, 'PAYMENT', '2026-07-05', NULL, 'ACCOUNT_CHARGE_PAYMENT', '',
		'{"transaction_id": "T-1783245600000000","transaction_date": "2026-07-05","amount": 12.34,"type": "PAYMENT","payment_type": "DD_REGULAR_COLLECTION","reason": "ACCOUNT_CHARGE_PAYMENT","reference": "DD-77120"}')`,
}

// postedEvent is the row of the event for a batch; $1 is the account.
const postedEvent = `INSERT INTO event (type, supplier, external, account_number, at, details)
	VALUES ('post_import.notes_created', 'BENCH', 'EXT-' || CAST($1 AS TEXT), 'A-' || CAST($1 AS TEXT), 1783245600000000, '{"count": "1"}')`

// measurePostPostgres compares posting batches with pgbench inserting the same
// rows, one batch per transaction. A batch of one is a single statement.
func measurePostPostgres(kind posting, batch int) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		database, err := m.freshPostgres(ctx, fmt.Sprintf("%s_%d", kind.list, batch))
		if err != nil {
			return measured{}, err
		}
		s, err := m.startWithAccounts(ctx, database)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		// Accounts of its own; nothing checks that they exist. pgbench has
		// named variables instead of numbered parameters.
		named := strings.NewReplacer("$1", ":account", "$2", ":n")
		insert, told := named.Replace(kind.insert), named.Replace(postedEvent)
		script := "\\set account random(1000000000, 1000002000)\n\\set n random(1, 9000000000000000)\n"
		if batch == 1 {
			script += "WITH posted AS (" + insert + ")\n" + told + ";\n"
		} else {
			script += "BEGIN;\n" + strings.Repeat("\\set n random(1, 9000000000000000)\n"+insert+";\n", batch) + told + ";\nCOMMIT;\n"
		}
		numbers := &counter{}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) {
				found, err := s.load(kind.path, kind.request(numbers, batch)).run(ctx, p.length)
				// A request has a batch, and rows are compared.
				found.rate *= float64(batch)
				return found, err
			},
			func() (sample, error) {
				found, err := m.pgbench(ctx, database, script, p.length)
				found.rate *= float64(batch)
				return found, err
			})
		return measured{ratio: ratio, ours: ours.of(kind.list), raw: raw.of("inserts by pgbench")}, err
	}
}

// measurePostSQLite compares posting batches with a bare program inserting the
// same rows, one batch per transaction.
func measurePostSQLite(kind posting, batch int) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		name := fmt.Sprintf("%s-%d", kind.list, batch)
		s, err := m.startWithAccounts(ctx, m.sqlite(name))
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		if _, err := m.tell(ctx, "schema", "apply", "--database", m.sqlite("raw-"+name)); err != nil {
			return measured{}, err
		}
		db, err := m.bareSQLite("raw-" + name)
		if err != nil {
			return measured{}, err
		}
		defer func() { _ = db.Close() }()
		numbers, rawNumbers := &counter{}, &counter{}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) {
				found, err := s.load(kind.path, kind.request(numbers, batch)).run(ctx, p.length)
				found.rate *= float64(batch)
				return found, err
			},
			func() (sample, error) { return kind.insertBare(ctx, db, rawNumbers, batch, p.length) })
		return measured{ratio: ratio, ours: ours.of(kind.list), raw: raw.of("inserts by a bare program")}, err
	}
}

// startWithAccounts starts a server on a database with accounts to post to.
func (m *harness) startWithAccounts(ctx context.Context, database string) (*service, error) {
	s, err := m.start(ctx, database)
	if err != nil {
		return nil, err
	}
	if _, err := s.create(ctx, &counter{}, postedAccounts); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// request writes a batch for one of the accounts.
func (k posting) request(numbers *counter, batch int) func(int64, []byte) []byte {
	before, after, _ := strings.Cut(k.item, "NUMBER")
	return func(_ int64, dst []byte) []byte {
		first := numbers.last.Add(int64(batch))
		dst = append(dst, `{"import_supplier":"`+supplier+`","external_account_number":"EXT-`...)
		// Batches rotate through the accounts, so that all ledgers grow alike.
		dst = strconv.AppendInt(dst, accountOffset+1+first/int64(batch)%postedAccounts, 10)
		dst = append(dst, `","`+k.list+`":[`...)
		for i := range int64(batch) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, before...)
			dst = strconv.AppendInt(dst, first+i, 10)
			dst = append(dst, after...)
		}
		return append(dst, `]}`...)
	}
}

// insertBare also writes the event, which is part of a posting.
func (k posting) insertBare(ctx context.Context, db *sql.DB, numbers *counter, batch int, length time.Duration) (sample, error) {
	statement, err := db.PrepareContext(ctx, k.insert)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = statement.Close() }()
	told, err := db.PrepareContext(ctx, postedEvent)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = told.Close() }()
	written, started := 0, time.Now()
	for time.Since(started) < length {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return sample{}, err
		}
		for range batch {
			number := numbers.last.Add(1)
			if _, err := tx.StmtContext(ctx, statement).ExecContext(ctx, number%postedAccounts, number); err != nil {
				return sample{}, err
			}
		}
		if _, err := tx.StmtContext(ctx, told).ExecContext(ctx, numbers.last.Load()%postedAccounts); err != nil {
			return sample{}, err
		}
		if err := tx.Commit(); err != nil {
			return sample{}, err
		}
		written += batch
	}
	return sample{rate: float64(written) / time.Since(started).Seconds()}, nil
}
