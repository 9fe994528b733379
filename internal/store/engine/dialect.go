package engine

import (
	"strconv"
	"strings"
	"sync"
)

// dialect contains the differences between the databases. SQL texts name a
// fragment in braces; the rest of every text is the same for both.
type dialect struct {
	name      string
	folder    string // of the schema steps
	fragments *strings.Replacer
	arrays    bool // write rows as one array per column
	nameless  bool // write ? instead of $1 where possible
	classify  func(error) Fault
	texts     sync.Map // text as written → text as sent
}

var sqliteDialect = &dialect{
	name:   "SQLite",
	folder: "sqlite",
	// To SQLite $1 is a name, which it searches for among all parameters.
	nameless: true,
	fragments: strings.NewReplacer(
		// A subquery is evaluated once in a statement.
		"{now}", "(SELECT now_micros())",
		"{bytes}", "BLOB",
		"{json}", "TEXT",
		// The members of a JSON array, as a table with the column value.
		"{each}", "json_each",
		// There is one writer, so there is nothing to lock.
		"{for_update}", "", "{for_update_skip}", "", "{try_lock}", "try_lock",
		"{schema_table}", "(SELECT name FROM sqlite_schema WHERE name = 'schema_step')",
	),
	classify: classifySQLite,
}

var postgresDialect = &dialect{
	name:   "PostgreSQL",
	folder: "postgres",
	arrays: true,
	fragments: strings.NewReplacer(
		// Not the start of the transaction: a lease may end while we wait for its
		// row.
		"{now}", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"{bytes}", "BYTEA",
		"{json}", "JSON",
		"{each}", "json_array_elements_text",
		// This lock does not block foreign key checks.
		"{for_update}", "FOR NO KEY UPDATE OF held",
		// A lock that ends with the transaction, and is never waited for.
		"{try_lock}", "pg_try_advisory_xact_lock",
		// Skip rows that another transaction is taking.
		"{for_update_skip}", "FOR NO KEY UPDATE OF held SKIP LOCKED",
		"{schema_table}", "to_regclass('schema_step')::text",
	),
	classify: classifyPostgres,
}

// text returns a statement in this dialect.
func (d *dialect) text(written string) string {
	if known, ok := d.texts.Load(written); ok {
		if sent, ok := known.(string); ok {
			return sent
		}
	}
	sent := d.fragments.Replace(written)
	if d.nameless {
		sent = unnumbered(sent)
	}
	d.texts.Store(written, sent)
	return sent
}

// unnumbered replaces $1, $2 and so on by ? if every parameter is used once and in
// order. Otherwise it returns the text unchanged.
func unnumbered(text string) string {
	parts := strings.Split(text, "$")
	for i, part := range parts[1:] {
		number := strconv.Itoa(i + 1)
		rest, found := strings.CutPrefix(part, number)
		if !found || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return text
		}
		parts[i+1] = rest
	}
	return strings.Join(parts, "?")
}
