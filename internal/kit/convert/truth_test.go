package convert_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// known is the truth about a cell: a number, a day, nothing, or a cell that must be refused if it is used.
type known struct {
	number *big.Rat
	day    time.Time
	bad    bool
}

func (k known) empty() bool { return k.number == nil && k.day.IsZero() && !k.bad }

// truthColumn is a column with the format that the map declares for it.
type truthColumn struct {
	name, settings string // settings are empty if the format is that of the table
	format         int
	cells          []string
	truth          []known
}

// numberFormats are settings, with the decimal mark and the thousands separator.
var numberFormats = [][3]string{
	{"decimal: '.', grouping: ','", ".", ","}, {"decimal: ',', grouping: '.'", ",", "."}, {"decimal: ',', grouping: ' '", ",", " "},
	{"decimal: '.', grouping: '', currency: ['£'], signs: {CR: plus, DR: minus}", ".", ""}, {"decimal: '.', grouping: '', minor_units: 3", "", ""},
}

// worded is the format with words beside the numbers, and truthRows the number of rows of a table.
const worded, truthRows = 3, 12

// dayFormats are settings with the layout of Go.
var dayFormats = [][2]string{
	{"dates: DD/MM/YYYY", "02/01/2006"}, {"dates: MM/DD/YYYY", "01/02/2006"}, {"dates: YYYYMMDD", "20060102"}, {"dates: D MON YYYY", "2 Jan 2006"}, {"dates: DD.MM.YY, century: past", "02.01.06"},
}

// truthMaker makes random maps and tables.
type truthMaker struct {
	*rand.Rand
	tableNumbers, tableDays int
}

// figure writes a number of thousandths, with three decimals or fewer.
func (m *truthMaker) figure(mills int64, format int) string {
	style, sign := numberFormats[format], mills < 0
	mills = max(mills, -mills)
	whole, decimals := fmt.Sprint(mills/1000), fmt.Sprintf("%03d", mills%1000)
	if style[1] == "" {
		whole, decimals = fmt.Sprint(mills), ""
	}
	for at := len(whole) - 3; at > 0 && style[2] != ""; at -= 3 {
		whole = whole[:at] + style[2] + whole[at:]
	}
	if decimals = strings.TrimRight(decimals, "0"); decimals != "" {
		whole += style[1] + decimals
	}
	if format == worded {
		return "£" + whole + map[bool]string{true: "DR", false: "CR"}[sign]
	}
	if sign {
		return fmt.Sprintf([]string{"-%s", "%s-", "(%s)"}[m.IntN(3)], whole)
	}
	return whole
}

// column makes a column in which some cells are empty, damaged, or written by someone else, which shows.
func (m *truthMaker) column(name string, dates bool) *truthColumn {
	c := &truthColumn{name: name, format: m.IntN(5), truth: make([]known, truthRows), cells: make([]string, truthRows)}
	damaged := []string{"x", "--5", "-5-", "1.06257E+12", "5 XYZ", "1.2.3,4", "31/02/2001", "00-00", "2001-13-13"}
	if !dates && c.format != m.tableNumbers {
		c.settings = numberFormats[c.format][0]
	} else if dates && c.format != m.tableDays {
		c.settings = dayFormats[c.format][0]
	}
	for i := range c.cells {
		kind, mills := m.IntN(16), []int64{1234, 1_234_000, 29650, 500, 0, 12_000, m.Int64N(5_000_000)}[m.IntN(7)]*[]int64{1, 1, -1}[m.IntN(3)]
		day := time.Date(1960+m.IntN(60), time.Month(1+m.IntN(12)), 1+m.IntN(28), 0, 0, 0, 0, time.UTC)
		switch {
		case kind == 0: // empty
		case kind == 1:
			c.truth[i], c.cells[i] = known{bad: true}, damaged[m.IntN(len(damaged))]
		case kind == 2 && dates:
			day = time.Date(1999, day.Month(), 25, 0, 0, 0, 0, time.UTC)
			c.truth[i], c.cells[i] = known{day: day}, day.Format(dayFormats[m.IntN(4)][1])
		case kind == 2:
			mills = 1000*m.Int64N(50) + 990
			c.truth[i], c.cells[i] = known{number: big.NewRat(mills, 1000)}, m.figure(mills, m.IntN(4))
		case dates:
			c.truth[i], c.cells[i] = known{day: day}, day.Format(dayFormats[c.format][1])
		default:
			c.truth[i], c.cells[i] = known{number: big.NewRat(mills, 1000)}, m.figure(mills, c.format)
		}
	}
	return c
}

// truthValue is a value in a map and its truth by row.
type truthValue struct {
	text  string
	truth func(row int) known
}

// leaf reads a column, with further settings.
func (c *truthColumn) leaf(more string) truthValue {
	all := slices.DeleteFunc([]string{"column: " + c.name, c.settings, more}, func(one string) bool { return one == "" })
	return truthValue{"{" + strings.Join(all, ", ") + "}", func(row int) known { return c.truth[row] }}
}

// combine computes with two values.
func combine(text string, a, b truthValue, result func(a, b known) known) truthValue {
	return truthValue{fmt.Sprintf(text, a.text, b.text), func(row int) known { return result(a.truth(row), b.truth(row)) }}
}

// first is the first value that is not empty.
func first(a, b truthValue) truthValue {
	return combine("{first: [%s, %s]}", a, b, func(a, b known) known { return map[bool]known{true: b, false: a}[a.empty()] })
}

// value makes an expression of columns. Values that are computed have the parts that are not.
func (m *truthMaker) value(columns []*truthColumn, codes []string, depth int) truthValue {
	one := columns[m.IntN(len(columns))]
	if depth == 0 {
		return one.leaf("")
	}
	a, b := m.value(columns, codes, m.IntN(depth)), m.value(columns, codes, m.IntN(depth))
	negate := func(n *big.Rat) *big.Rat { return new(big.Rat).Neg(n) }
	constant := truthValue{"=1.25", func(int) known { return known{number: big.NewRat(5, 4)} }}
	switch m.IntN(9) {
	case 0:
		return first(a, []truthValue{b, constant}[m.IntN(2)])
	case 1, 2:
		return combine("{sum: [%s, %s]}", a, []truthValue{b, constant}[m.IntN(2)], func(a, b known) known {
			switch {
			case a.bad || b.bad:
				return known{bad: true}
			case a.empty() || b.empty():
				return map[bool]known{true: b, false: a}[a.empty()]
			}
			return known{number: new(big.Rat).Add(a.number, b.number)}
		})
	case 3:
		return combine("{product: [%s, %s]}", a, []truthValue{b, constant}[m.IntN(2)], func(a, b known) known {
			switch {
			case a.empty() || !a.bad && b.empty():
				return known{} // the rest is not looked at
			case a.bad || b.bad:
				return known{bad: true}
			}
			return known{number: new(big.Rat).Mul(a.number, b.number)}
		})
	case 4:
		return truthValue{one.leaf("sign: reversed").text, func(row int) known {
			if k := one.truth[row]; k.number != nil {
				return known{number: negate(k.number)}
			}
			return one.truth[row]
		}}
	case 5: // the other column is compared in its format
		other := columns[m.IntN(len(columns))]
		v := one.leaf(fmt.Sprintf("when: {%s: {above: 20.5}}", other.name))
		return truthValue{v.text, func(row int) known {
			switch k := other.truth[row]; {
			case k.bad:
				return k
			case k.empty() || k.number.Cmp(big.NewRat(41, 2)) <= 0:
				return known{}
			}
			return one.truth[row]
		}}
	case 6:
		v := one.leaf("negative_when: {CODE: D}")
		return truthValue{v.text, func(row int) known {
			k := one.truth[row]
			switch {
			case k.empty() || k.bad || k.number.Sign() == 0:
			case codes[row] == "" || codes[row] == "D" && (k.number.Sign() < 0 || one.format == worded):
				return known{bad: true}
			case codes[row] == "D":
				k.number = negate(k.number)
			}
			return k
		}}
	case 7:
		return first(one.leaf(""), truthValue{"{column: CODE, values: {D: '3', C: '4'}, default: 0}", func(row int) known {
			return known{number: big.NewRat(map[string]int64{"D": 3, "C": 4}[codes[row]], 1)}
		}})
	}
	return a
}

// TestEveryValueIsTrueOrRefused writes tables whose values are known, in formats that the map declares
// for the table or for single attrs. Whatever the map does with them, an account has the true values.
func TestEveryValueIsTrueOrRefused(t *testing.T) {
	used, refused := 0, 0
	for seed := range uint64(30) {
		m := &truthMaker{Rand: rand.New(rand.NewPCG(7, seed))}
		m.tableNumbers, m.tableDays = m.IntN(4), m.IntN(len(dayFormats)) // a table has no minor units
		v, w, day := m.column("V", false), m.column("W", false), m.column("DAY", true)
		codes := make([]string, truthRows)
		for i := range codes {
			codes[i] = []string{"D", "C", "D", "C", ""}[m.IntN(5)]
		}
		value := m.value([]*truthColumn{v, w}, codes, 1+m.IntN(3))
		shift := m.IntN(3) - 1
		// Every column is filled once, so that its format is known where it is compared.
		text := fmt.Sprintf("map: 1\nsupplier: N\nsource: {delimiter: ';', %s, %s}\ntables:\n  A:\n    file: a.csv\n    into: accounts\n    account: NO\n    fill:\n"+
			"      customers: [{family_name: NO}]\n      transfer_balance: %s\n      date_of_sale: %s\n      metadata: [{key: =v, value: %s}, {key: =w, value: %s}]\n",
			numberFormats[m.tableNumbers][0], dayFormats[m.tableDays][0], value.text, day.leaf(fmt.Sprintf("days: %+d", shift)).text, v.leaf("round: 9").text, w.leaf("round: 9").text)
		table := "NO;V;W;DAY;CODE\n"
		for i := range truthRows {
			table += fmt.Sprintf("%d;%s;%s;%s;%s\n", i, v.cells[i], w.cells[i], day.cells[i], codes[i])
		}
		lines, problems, result := must(t, map[string]string{"map.yaml": text, "a.csv": table})
		if result.Tallies[0].Used != len(lines) || len(lines)+len(problems) != truthRows {
			t.Errorf("seed %d: %d lines and %d problems", seed, len(lines), len(problems))
		}
		used, refused = used+len(lines), refused+len(problems)
		for _, line := range lines {
			var got struct {
				Number  int    `json:"external_account_number,string"`
				Balance string `json:"transfer_balance"`
				Sold    string `json:"date_of_sale"`
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			row, date := got.Number, ""
			if !day.truth[row].day.IsZero() {
				date = day.truth[row].day.AddDate(0, 0, shift).Format(time.DateOnly)
			}
			balance := value.truth(row)
			bad := balance.bad || v.truth[row].bad || w.truth[row].bad || day.truth[row].bad
			number, _ := new(big.Rat).SetString(got.Balance)
			if bad || got.Sold != date || (number == nil) != (balance.number == nil) || number != nil && number.Cmp(balance.number) != 0 {
				t.Errorf("seed %d: %s\nfor row %d, whose balance is %v and date %s\n%s\n%s", seed, line, got.Number, balance.number, date, table, text)
			}
		}
	}
	if used < 90 || refused < 90 {
		t.Errorf("%d rows used, %d refused", used, refused)
	}
}
