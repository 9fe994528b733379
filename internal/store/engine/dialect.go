package engine

import (
	"strconv"
	"strings"
	"sync"
)

// dialect holds everything the SQL texts leave open. Texts name a fragment in
// braces; the rest of every text is the same for both databases.
type dialect struct {
	name      string
	folder    string // of the schema steps
	fragments *strings.Replacer
	arrays    bool // rows are written as one array per column
	nameless  bool // parameters are better left without their numbers
	classify  func(error) Fault
	texts     sync.Map // text as written → text as sent
}

var sqliteDialect = &dialect{
	name:   "SQLite",
	folder: "sqlite",
	// To SQLite $1 is a name, and it looks for the name of each parameter it is
	// given among all of them.
	nameless: true,
	fragments: strings.NewReplacer(
		// As a query of its own it is asked once in a statement.
		"{now}", "(SELECT now_micros())",
		"{bytes}", "BLOB",
		"{json}", "TEXT",
		// The members of a JSON array, as a table with the column value.
		"{each}", "json_each",
		// Whoever writes holds everything.
		"{hold}", "", "{take}", "",
		"{schema_table}", "(SELECT name FROM sqlite_schema WHERE name = 'schema_step')",
	),
	classify: classifySQLite,
}

var postgresDialect = &dialect{
	name:   "PostgreSQL",
	folder: "postgres",
	arrays: true,
	fragments: strings.NewReplacer(
		// The clock and not the start of the transaction: a lease that ended
		// while we waited for its row has ended.
		"{now}", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"{bytes}", "BYTEA",
		"{json}", "JSON",
		"{each}", "json_array_elements_text",
		// Foreign keys may still be checked against what is held.
		"{hold}", "FOR NO KEY UPDATE OF held",
		// What somebody else is taking is left to him.
		"{take}", "FOR NO KEY UPDATE OF held SKIP LOCKED",
		"{schema_table}", "to_regclass('schema_step')::text",
	),
	classify: classifyPostgres,
}

// text gives a statement as this database reads it.
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

// unnumbered writes ? for $1, $2 and so on where every parameter is used once,
// in order. Other texts it leaves as they are.
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
