package operate

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// maxRecordFindings is how many differences of one account are reported.
const maxRecordFindings = 20

// compareDerived returns the names of the values in which the rows of an account
// differ from what its record says. What the rows do not have, and what came
// from elsewhere, is not compared.
func compareDerived(stored, derived *landfall.Account) []string {
	want := derived.Data
	want.Language = ""
	want.HistoricalTransactions, want.CurrentTransactions = nil, nil // they are in the ledger
	want.Customers = append([]landfall.Customer(nil), want.Customers...)
	for i := range want.Customers {
		want.Customers[i].Deceased = false
	}
	have := stored.Data
	have.Key = want.Key
	want.Notes, want.Instructions = append([]landfall.Note(nil), want.Notes...), append([]landfall.Instruction(nil), want.Instructions...)
	for i := range min(len(want.Notes), len(have.Notes)) {
		// A note that was sent without a time has that of the server that created
		// the account.
		if want.Notes[i].CreatedAt.Equal(derived.CreatedAt.Truncate(time.Second)) && have.Notes[i].CreatedAt.Sub(stored.CreatedAt).Abs() < clockTolerance {
			want.Notes[i].CreatedAt = have.Notes[i].CreatedAt
		}
	}
	for i := range min(len(want.Instructions), len(have.Instructions)) {
		want.Instructions[i].Details = have.Instructions[i].Details // by the vendor
	}
	found := compareValues("", have, want)
	found = append(found, compareValues("periods", stored.Periods, derived.Periods)...)
	found = append(found, compareValues("ledger", stored.Ledger, derived.Ledger)...)
	return found[:min(len(found), maxRecordFindings)]
}

// clockTolerance is how much the clocks of a server and its database may differ.
const clockTolerance = 24 * time.Hour

// compareValues returns the paths in which two values differ: names as in the
// database, and indexes of lists.
func compareValues(path string, a, b any) (found []string) {
	compareReflected(path, reflect.ValueOf(a), reflect.ValueOf(b), &found)
	return found
}

func compareReflected(path string, a, b reflect.Value, found *[]string) {
	differ := func(same bool) {
		if !same {
			*found = append(*found, path)
		}
	}
	switch x := a.Interface().(type) {
	case time.Time:
		differ(x.Equal(b.Interface().(time.Time))) //nolint:forcetypeassert // both have the same type
		return
	case money.Decimal:
		differ(x.Compare(b.Interface().(money.Decimal)) == 0) //nolint:forcetypeassert // likewise
		return
	case calendar.Day:
		differ(x == b.Interface().(calendar.Day)) //nolint:forcetypeassert // likewise
		return
	case []byte:
		differ(bytes.Equal(x, b.Bytes()))
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			differ(a.IsNil() == b.IsNil())
			return
		}
		compareReflected(path, a.Elem(), b.Elem(), found)
	case reflect.Struct:
		for i := range a.NumField() {
			compareReflected(joinPath(path, snakeCase(a.Type().Field(i).Name)), a.Field(i), b.Field(i), found)
		}
	case reflect.Slice:
		for i := range max(a.Len(), b.Len()) {
			item := joinPath(path, strconv.Itoa(i))
			if i >= a.Len() || i >= b.Len() {
				*found = append(*found, item)
				continue
			}
			compareReflected(item, a.Index(i), b.Index(i), found)
		}
	default:
		differ(a.Equal(b))
	}
}

func joinPath(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// snakeCase turns FamilyName into family_name.
func snakeCase(name string) string {
	var text strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			text.WriteByte('_')
		}
		text.WriteRune(unicode.ToLower(r))
	}
	return text.String()
}
