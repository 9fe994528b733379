package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"landfall"
)

// inspectFile lets SQLite check one table with its indexes: the structure of its
// pages, the types and constraints of its values, and that each index has exactly
// the rows of the table.
func inspectFile(ctx context.Context, s *Store, after string) (part inspectPart, err error) {
	text := func(scan scanner, text *string) error { return scan(text) }
	err = s.stream(ctx, func(v *view) error {
		part = inspectPart{}
		tables, err := collect(ctx, v.txSession, text, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name > $1 ORDER BY name LIMIT 1`, after)
		if err != nil || len(tables) == 0 {
			return err
		}
		part.next = tables[0]
		problems, err := collect(ctx, v.txSession, text, `PRAGMA integrity_check("`+strings.ReplaceAll(tables[0], `"`, `""`)+`")`)
		for _, problem := range problems {
			if problem != "ok" {
				part.findings = append(part.findings, landfall.Finding{What: "table " + tables[0] + ": " + strings.TrimSpace(strings.ReplaceAll(problem, "\n", " "))})
			}
		}
		return err
	})
	return part, err
}

// inspectBlocks is how many blocks of 8 KB one step reads on PostgreSQL.
const inspectBlocks = 1024

// inspectRelation checks a part of a table or an index on PostgreSQL. If the
// extension amcheck is installed and may be used, it checks the structure.
// Otherwise all rows are read with their long values, which compares the checksums
// of the pages if the server has them.
func inspectRelation(ctx context.Context, s *Store, after string) (part inspectPart, err error) {
	name, block, _ := strings.Cut(after, "/")
	from, _ := strconv.ParseInt(block, 10, 64) // "" is the beginning
	type relation struct {
		name, kind string
		blocks     int64
	}
	var found []relation
	checked, err := s.amcheck(ctx)
	if err != nil {
		return part, err
	}
	err = s.stream(ctx, func(v *view) error {
		next := `c.relname > $1`
		if from > 0 {
			next = `c.relname = $1` // its next blocks
		}
		found, err = collect(ctx, v.txSession, func(scan scanner, one *relation) error { return scan(&one.name, &one.kind, &one.blocks) },
			`SELECT c.relname::text, c.relkind::text, pg_relation_size(c.oid) / current_setting('block_size')::bigint FROM pg_class c
			WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i') AND `+next+` ORDER BY c.relname COLLATE "C" LIMIT 1`, name)
		return err
	})
	if err != nil || len(found) == 0 {
		return part, err
	}
	one := found[0]
	until := from + inspectBlocks
	if part.next = one.name; one.kind == "r" && until < one.blocks {
		part.next += "/" + strconv.FormatInt(until, 10)
	}
	quoted := `"` + strings.ReplaceAll(one.name, `"`, `""`) + `"`
	return part, s.stream(ctx, func(v *view) error {
		part.findings = nil
		switch {
		case one.kind == "i" && checked:
			_, err := collect(ctx, v.txSession, func(scanner, *struct{}) error { return nil }, `SELECT bt_index_check('`+quoted+`', true)`)
			return err
		case one.kind == "i":
			return nil
		case checked && from < one.blocks:
			problems, err := collect(ctx, v.txSession, func(scan scanner, text *string) error { return scan(text) },
				`SELECT format('block %s, row %s: %s', blkno, offnum, msg) FROM verify_heapam('`+quoted+`', startblock => $1, endblock => $2)`, from, min(until, one.blocks)-1)
			for _, problem := range problems {
				part.findings = append(part.findings, landfall.Finding{What: "table " + one.name + ": " + problem})
			}
			if err != nil {
				return err
			}
		}
		_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error { return scan(new(int64)) },
			fmt.Sprintf(`SELECT coalesce(sum(octet_length(CAST(t.* AS text))), 0) FROM %s t WHERE t.ctid >= '(%d,0)'::tid AND t.ctid < '(%d,0)'::tid`, quoted, from, until))
		return err
	})
}

// amcheck reports whether this user may use the extension amcheck.
func (s *Store) amcheck(ctx context.Context) (usable bool, err error) {
	err = s.stream(ctx, func(v *view) error {
		return v.one(ctx, `SELECT coalesce(bool_and(has_function_privilege(p.oid, 'EXECUTE')), FALSE) AND count(DISTINCT p.proname) = 2
			FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
			WHERE e.extname = 'amcheck' AND p.proname IN ('bt_index_check', 'verify_heapam')`, nil, []any{&usable})
	})
	return usable, err
}
