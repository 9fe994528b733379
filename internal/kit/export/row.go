package export

import (
	"fmt"
	"strconv"
	"time"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// cell is a value of a row. Which member has it depends on the column.
type cell struct {
	set    bool
	text   string // as it is written in CSV
	number int64  // of an integer, boolean, amount (minor units), date (days since 1970) or datetime (microseconds since 1970)
}

type tableWriter interface {
	begin(*layout) error
	row(*tableLayout, []cell) error
	// accountPage is called behind every page.
	page(accounts int) error
	checkpoint() (bool, error)
	finish() error
}

// tableSink writes accounts as rows of tables.
type tableSink struct {
	layout *layout
	hide   *pseudonyms
	record *rules.Table
	out    tableWriter
	begun  bool

	supplier, external cell
	positions          []cell // of the lists around the current object
}

func newTableSink(schema *contract.Schema, hide *pseudonyms, out tableWriter) accountSink {
	return &tableSink{layout: newLayout(schema), hide: hide, out: out, record: schema.BookTable("accounts")}
}

func (s *tableSink) start() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.out.begin(s.layout)
}

func (s *tableSink) add(p *accountPage) (leftOut int, err error) {
	if err := s.start(); err != nil {
		return 0, err
	}
	if err := readAccounts(p.reader(), s); err != nil {
		return 0, err
	}
	return 0, s.out.page(p.accounts)
}

func (s *tableSink) checkpoint() (bool, error) { return s.out.checkpoint() }

func (s *tableSink) finish() error {
	if err := s.start(); err != nil {
		return err
	}
	return s.out.finish()
}

// begin writes the row of an account and everything in its record.
func (s *tableSink) begin(head *jsonValue) error {
	s.supplier = cell{set: true, text: head.member("import_supplier").plain()}
	s.external = cell{set: true, text: head.member("external_account_number").plain()}
	s.positions = s.positions[:0]
	if s.hide != nil {
		head = s.hidden(head)
	}
	accounts := s.layout.tables[0]
	row := make([]cell, len(accounts.columns))
	if err := s.object(accounts, s.layout.head, row, "", head); err != nil {
		return err
	}
	return s.out.row(accounts, row)
}

// hidden replaces the record by one with pseudonyms, and its fingerprint.
func (s *tableSink) hidden(head *jsonValue) *jsonValue {
	changed := jsonValue{members: append([]member{}, head.members...)}
	for i := range changed.members {
		one := &changed.members[i]
		switch {
		case one.value.null():
		case one.name == "data":
			one.value = parseValue(s.hide.object(nil, s.record, &one.value))
		case one.name == "fingerprint":
			one.value = jsonValue{} // it would allow to recognise the data
		}
	}
	return &changed
}

func (s *tableSink) item(name string, number int, item *jsonValue) error {
	if s.hide != nil {
		changed := parseValue(s.hide.object(nil, s.hide.lists[name], item))
		item = &changed
	}
	return s.listItem(s.layout.lists[name], name+"."+strconv.Itoa(number), number, item)
}

func (s *tableSink) endList(string, int) error { return nil }
func (s *tableSink) end() error                { return nil }

// object puts the members of an object into a row, and writes the rows of its lists.
func (s *tableSink) object(in *tableLayout, at *objectTarget, row []cell, attr string, from *jsonValue) error {
	for i := range from.members {
		one := &from.members[i]
		if one.value.null() {
			continue
		}
		path := one.name
		if attr != "" {
			path = attr + "." + one.name
		}
		if err := s.member(in, at.fields[one.name], row, path, &one.value); err != nil {
			return err
		}
	}
	return nil
}

// member puts one value where its field belongs. What fits nowhere is in the table of other values.
func (s *tableSink) member(in *tableLayout, to *fieldTarget, row []cell, path string, from *jsonValue) error {
	switch {
	case to == nil:
	case to.skip:
		return nil
	case to.object != nil:
		if from.isObject() {
			return s.object(in, to.object, row, path, from)
		}
	case to.list != nil:
		if from.isList() {
			for i := range from.items {
				if err := s.listItem(to.list, path+"."+strconv.Itoa(i), i, &from.items[i]); err != nil {
					return err
				}
			}
			return nil
		}
	default:
		var fits bool
		if row[to.column], fits = newCell(&in.columns[to.column].typ, from); fits {
			return nil
		}
	}
	return s.out.row(s.layout.others, []cell{s.supplier, s.external, textCell(path), textCell(string(from.text))})
}

func (s *tableSink) listItem(in *listTarget, path string, number int, item *jsonValue) error {
	row := make([]cell, len(in.table.columns))
	row[0], row[1] = s.supplier, s.external
	s.positions = append(s.positions, numberCell(int64(number)+1))
	defer func() { s.positions = s.positions[:len(s.positions)-1] }()
	copy(row[2:], s.positions)
	switch {
	case in.item == nil:
		last := len(row) - 1
		var fits bool
		if row[last], fits = newCell(&in.table.columns[last].typ, item); !fits && !item.null() {
			return s.out.row(s.layout.others, []cell{s.supplier, s.external, textCell(path), textCell(string(item.text))})
		}
	case item.isObject():
		if err := s.object(in.table, in.item, row, path, item); err != nil {
			return err
		}
	default:
		return s.out.row(s.layout.others, []cell{s.supplier, s.external, textCell(path), textCell(string(item.text))})
	}
	return s.out.row(in.table, row)
}

func textCell(text string) cell { return cell{set: true, text: text} }
func numberCell(number int64) cell {
	return cell{set: true, text: strconv.FormatInt(number, 10), number: number}
}

// newCell converts a value to the type of a column. It reports false if the value does not fit.
func newCell(typ *rules.Type, from *jsonValue) (cell, bool) {
	if typ.Shape == rules.ShapeAny {
		return textCell(string(from.text)), true
	}
	if from.isObject() || from.isList() {
		return cell{}, false
	}
	text := from.plain()
	if typ.Shape == rules.ShapeText {
		return textCell(text), true
	}
	if text == "" {
		return cell{}, true // an empty optional value
	}
	number, written, err := parseNumber(typ, from, text)
	return cell{set: true, text: written, number: number}, err == nil
}

// parseNumber returns the number of a value and how CSV writes it.
func parseNumber(typ *rules.Type, from *jsonValue, text string) (number int64, written string, err error) {
	switch typ.Shape {
	case rules.ShapeBoolean:
		value, err := strconv.ParseBool(text)
		if value {
			number = 1
		}
		return number, text, err
	case rules.ShapeInteger:
		number, err = strconv.ParseInt(text, 10, 64)
		return number, text, err
	case rules.ShapeAmount, rules.ShapeDecimal:
		if !from.isString() {
			if text, err = money.Plain(text); err != nil {
				return 0, "", err
			}
		}
		if typ.Shape == rules.ShapeAmount {
			amount, err := money.ParseAmount(text)
			return int64(amount), amount.String(), err
		}
		_, err = money.ParseDecimal(text)
		return 0, text, err
	case rules.ShapeDate:
		day, err := calendar.ParseDay(text)
		return day.Number() - epoch.Number(), text, err
	case rules.ShapeDatetime:
		at, err := time.Parse(time.RFC3339Nano, text)
		return at.UnixMicro(), text, err
	}
	return 0, "", fmt.Errorf("no number: %s", text)
}

// epoch is the day from which Parquet counts.
var epoch = calendar.Date(1970, time.January, 1)
