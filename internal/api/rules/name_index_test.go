package rules

import (
	"strconv"
	"strings"
	"testing"
)

// every looks up a table's own names, names that are nearly the same, and those
// of every other table.
func every(t *testing.T, table *Table, others ...string) {
	t.Helper()
	for i, name := range table.names {
		if table.find(name) != i {
			t.Errorf("%s has %s at %d, not %d", table.Name, name, table.find(name), i)
		}
		others = append(others, name+"s", name[1:], name[:len(name)-1], strings.ToUpper(name), "", "x")
	}
	for _, name := range others {
		if want, known := table.index[name]; table.find(name) != want && known || table.find(name) >= 0 && !known {
			t.Errorf("%s has %q at %d", table.Name, name, table.find(name))
		}
	}
}

func TestNameIndexFindsNames(t *testing.T) {
	full := make([]Field, 64)
	for i := range full {
		full[i] = Optional("field_"+strconv.Itoa(i)+strings.Repeat("x", i%7), Boolean(), "")
	}
	for _, table := range []*Table{sampleTable, thing, NewTable("Empty", ""), NewTable("Nameless", "", Optional("", Boolean(), ""))} {
		if table.lookup == nil {
			t.Errorf("%s has no directory", table.Name)
		}
	}
	largest := NewTable("Full", "", full...)
	every(t, sampleTable, largest.names...)
	every(t, largest, sampleTable.names...)
	every(t, thing, sampleTable.names...)
}

// Names that differ only in bytes that the index ignores are found without it.
func TestNamesThatLookAlikeAreFound(t *testing.T) {
	table := NewTable("Twins", "", Optional("first_of_a_few_twins", Boolean(), ""), Optional("first_of_z_few_twins", Boolean(), ""), Optional("first_of_y_few_twins", Boolean(), ""))
	if table.lookup != nil {
		t.Error("the names have slots of their own")
	}
	every(t, table, "first_of_x_few_twins")
	doc, fault := table.Read([]byte(`{"first_of_y_few_twins":true,"first_of_a_few_twins":false}`), Limits{})
	if fault != nil || !doc.Root().Field("first_of_y_few_twins").Bool() || doc.Root().Field("first_of_z_few_twins").Present() || !doc.Root().Field("first_of_a_few_twins").Present() {
		t.Error("the wrong twin was read", fault)
	}
}

// Each member is found under its own name, whatever the order.
func TestMembersAreFoundInEveryOrder(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	fields := make([]Field, len(names))
	for i, name := range names {
		fields[i] = Optional(name, Integer(0, 9), "")
	}
	table := NewTable("Letters", "", fields...)
	var sent func(body []string, left []string)
	sent = func(body, left []string) {
		doc, fault := table.Read([]byte("{"+strings.Join(body, ",")+"}"), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		for i, name := range names {
			member := doc.Root().Field(name)
			given := strings.Contains(strings.Join(body, ","), `"`+name+`"`)
			if member.Present() != given || given && (member.Int() != int64(i) || member.Attr() != name) {
				t.Errorf("%v: %s is %d at %q", body, name, member.Int(), member.Attr())
			}
		}
		for i, name := range left {
			rest := append(append([]string{}, left[:i]...), left[i+1:]...)
			value := strconv.Itoa(strings.Index("abcd", name))
			sent(append(append([]string{}, body...), `"`+name+`":`+value), rest)
		}
	}
	sent(nil, names)
}
