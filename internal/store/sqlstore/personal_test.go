package sqlstore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"landfall/internal/store/sqlset"
)

// Columns returns every column of a store, as table.column.
func (s *Store) Columns(ctx context.Context, postgres bool) ([]string, error) {
	if postgres {
		return s.Texts(ctx, `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema()`)
	}
	return s.Texts(ctx, `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
}

// Unclassified returns the columns that are missing from the registry, and those
// in the registry that are not in columns.
func Unclassified(columns []string) (wrong []string) {
	known := map[string]bool{}
	for table, held := range tableRules {
		for column := range held.columns {
			known[table+"."+column] = true
		}
	}
	for _, name := range columns {
		table, _, _ := strings.Cut(name, ".")
		if !known[name] && !slices.Contains(plainTables, table) {
			wrong = append(wrong, name+" is not classified")
		}
		delete(known, name)
	}
	for name := range known {
		wrong = append(wrong, name+" is not there")
	}
	return wrong
}

// PersonalColumns returns the personal columns, as table.column.
func PersonalColumns() (names []string) {
	for table, held := range tableRules {
		for name, column := range held.columns {
			if column.nature == naturePersonal {
				names = append(names, table+"."+name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// StoredValues returns the distinct values of a column, bytes in hexadecimal.
// It leaves out empty and erased values.
func (s *Store) StoredValues(ctx context.Context, postgres bool, name string) (values []string, err error) {
	table, column, _ := strings.Cut(name, ".")
	value := `CASE typeof(` + column + `) WHEN 'blob' THEN '\x' || lower(hex(` + column + `)) ELSE CAST(` + column + ` AS TEXT) END`
	if postgres {
		value = column + `::text`
	}
	found, err := s.Texts(ctx, `SELECT v FROM (SELECT DISTINCT `+value+` AS v FROM `+table+` WHERE `+column+` IS NOT NULL) kept ORDER BY v`)
	return slices.DeleteFunc(found, func(value string) bool {
		return slices.Contains([]string{"", "[]", "0", `\x`, `{"code":"account_erased"}`}, value) || strings.HasPrefix(value, "erased ")
	}), err
}

// sealedByWriter lists the columns that are sealed by the code that writes
// them, because their location is known before there is a row, or because they
// are updated alone.
var sealedByWriter = []string{"process.hash", "process.failure", "staging.hash", "staging.document", "refusal.failure", "refusal.person", "posting_refusal.failure", "mail.reply", "target_delivery.reply", "operator.totp_secret", "operator.pending_secret"}

func TestWhatIsPersonalIsSealed(t *testing.T) {
	sealing := map[string]bool{}
	for _, name := range sealedByWriter {
		sealing[name] = true
	}
	for _, table := range []*sqlset.Table{
		accountTable, customerTable, addressTable, pointTable, meterTable, entryTable, noteTable, statementTable, instructionTable, mailTable, runFailureTable, identifierTable,
	} {
		columns, _ := table.Columns()
		for _, seal := range sealedColumns[table] {
			sealing[table.Name()+"."+columns[seal.at]] = true
		}
	}
	for table, held := range tableRules {
		for name, column := range held.columns {
			if column.nature == naturePersonal && column.form == formPlain {
				t.Errorf("%s.%s is personal, but not sealed", table, name)
			}
			if is := column.form == formSealed || column.form == formMatched; is != sealing[table+"."+name] {
				t.Errorf("%s.%s is not sealed by newTable and not listed in sealedByWriter", table, name)
			}
			delete(sealing, table+"."+name)
		}
	}
	if len(sealing) > 0 {
		t.Errorf("unknown value %v", sealing)
	}
}

func TestWhatIsPersonalIsErased(t *testing.T) {
	for table, held := range tableRules {
		for name, column := range held.columns {
			if column.nature == naturePersonal && held.of == "" {
				t.Errorf("%s.%s is personal, but no condition selects its account", table, name)
			}
			if (column.nature == naturePersonal) != (column.erased != "") {
				t.Errorf("%s.%s has no value for erased rows", table, name)
			}
		}
	}
	if len(erasures) < 12 {
		t.Errorf("%d statements erase", len(erasures))
	}
}
