package contract

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// Fill adds fields of the packs to an account that has none, with made-up values that
// pass the rules of the packs. An account that uses names of Landfall for which a pack
// has its own gets those of the pack. below returns a number from 0 up to its
// argument, and decides everything; no date is after asOf.
func (s *Schema) Fill(account map[string]any, asOf calendar.Day, below func(int) int) {
	f := filler{s, asOf, below}
	f.object(s.account, account)
}

// filler fills accounts.
type filler struct {
	*Schema
	asOf  calendar.Day
	below func(int) int
}

// packNames are names that packs have for fields of Landfall.
var packNames = [][2]string{
	{"supply_points", "meter_points"}, {"identifier", "mpxn"}, {"product_code", "tariff_code"}, {"serial_number", "meter_serial_number"},
}

// notMadeUp are fields that must agree with the rest of the account, so that they cannot be made up.
var notMadeUp = []string{"ledgers", "meter_points", "transfer_readings", "supply_end_date", "removed_on"}

func (f *filler) object(table *rules.Table, object map[string]any) {
	f.rename(table, object)
	for i := range table.Fields {
		field := &table.Fields[i]
		given, has := object[field.Name]
		switch {
		case has:
			f.inside(&field.Type, given)
		case f.wanted(table, field, object):
			if value, ok := f.value(&field.Type); ok {
				object[field.Name] = value
			}
		}
	}
	if checks := f.checks[table]; checks != nil {
		for _, rule := range checks.rules {
			if rule.Kind == pack.FromTo {
				inOrder(object, rule.Fields[0], rule.Fields[1])
			}
		}
	}
}

// rename gives an object the names of a pack.
func (f *filler) rename(table *rules.Table, object map[string]any) {
	for _, names := range packNames {
		if given, has := object[names[0]]; has && f.fields[table][names[1]] {
			delete(object, names[0])
			object[names[1]] = given
		}
	}
	readings := fieldOf(table, "transfer_readings")
	registers, _ := object["registers"].([]any)
	if readings == nil || len(registers) == 0 || fieldOf(fieldOf(table, "registers").Type.Item.Table, "transfer_readings") != nil {
		return
	}
	// The pack has the readings beside the registers.
	var all []any
	for _, one := range registers {
		register, _ := one.(map[string]any)
		taken, _ := register["transfer_readings"].([]any)
		for _, one := range taken {
			reading, _ := one.(map[string]any)
			reading["register_id"] = register["register_id"]
			all = append(all, reading)
		}
		delete(register, "transfer_readings")
	}
	object["transfer_readings"] = all
}

// inside fills the objects of a value.
func (f *filler) inside(typ *rules.Type, given any) {
	switch value := given.(type) {
	case map[string]any:
		if typ.Table != nil && f.holds[typ.Table] {
			f.object(typ.Table, value)
		}
	case []any:
		for _, item := range value {
			if typ.Item != nil {
				f.inside(typ.Item, item)
			}
		}
	}
}

// wanted decides whether a field that is not there is added. Fields that a rule needs
// are always there, and the end of a period never is.
func (f *filler) wanted(table *rules.Table, field *rules.Field, object map[string]any) bool {
	if field.Required {
		return true
	}
	if !f.fields[table][field.Name] || slices.Contains(notMadeUp, field.Name) {
		return false
	}
	needed, unwanted := false, false
	if checks := f.checks[table]; checks != nil {
		for _, rule := range checks.rules {
			switch at := slices.Index(rule.Fields, field.Name); rule.Kind {
			case pack.Together, pack.OneOf:
				needed = needed || at >= 0
			case pack.RequiredWhen:
				needed = needed || at >= 0 || rule.When == field.Name && rule.Is == ""
			case pack.FromTo:
				unwanted = unwanted || at == 1
			case pack.Exclusive:
				unwanted = unwanted || at >= 0 && slices.ContainsFunc(rule.Fields, func(name string) bool { return object[name] != nil })
			}
		}
	}
	return needed || !unwanted && f.below(3) == 0
}

// inOrder makes two dates follow each other.
func inOrder(object map[string]any, from, to string) {
	first, _ := object[from].(string)
	if second, has := object[to].(string); has && first > second {
		object[to] = first
	}
}

// value makes up a value. It reports false if there is none that it could find.
func (f *filler) value(typ *rules.Type) (any, bool) {
	switch typ.Shape {
	case rules.ShapeObject:
		object := map[string]any{}
		f.object(typ.Table, object)
		return object, true
	case rules.ShapeList:
		if inner := tableOf(typ); inner != nil && !f.holds[inner] {
			return []any{}, typ.Min == 0 // a documented object that no pack adds to
		}
		list := []any{}
		for range max(1, typ.Min) {
			item, ok := f.value(typ.Item)
			if !ok {
				return nil, false
			}
			list = append(list, item)
		}
		return list, true
	case rules.ShapeText:
		return f.text(typ)
	case rules.ShapeBoolean:
		return f.below(2) == 0, true
	case rules.ShapeInteger:
		low := max(typ.Low, 0)
		return min(typ.High, low+int64(f.below(int(min(typ.High-low, 500)+1)))), true
	case rules.ShapeAmount:
		return fmt.Sprintf("%d.%02d", f.below(300), f.below(100)), true
	case rules.ShapeDecimal:
		return f.decimal(typ), true
	case rules.ShapeDate:
		return f.day().String(), true
	case rules.ShapeDatetime:
		return fmt.Sprintf("%sT%02d:%02d:00Z", f.day(), 8+f.below(10), f.below(60)), true
	}
	return map[string]any{"code": strconv.Itoa(f.below(1000))}, true
}

func (f *filler) day() calendar.Day { return f.asOf.AddDays(-1 - f.below(700)) }

func (f *filler) decimal(typ *rules.Type) string {
	digits, places := 4, 2
	if typ.Digits > 0 {
		digits, places = min(digits, typ.Digits), min(places, typ.Places)
	}
	most := 1
	for range digits {
		most *= 10
	}
	text := strconv.Itoa(f.below(most))
	if places > 0 {
		text += "." + strconv.Itoa(1+f.below(9))
	}
	return text
}

// madeUp are the words of texts.
var madeUp = strings.Fields("Amber Birch Cedar Dale Elm Fern Grove Harbour Iris Juniper Kestrel Larch Meadow North Orchard Poplar")

func (f *filler) text(typ *rules.Type) (string, bool) {
	word := madeUp[f.below(len(madeUp))]
	if typ.Choices != nil {
		return typ.Choices[f.below(len(typ.Choices))], true
	}
	// Those that few formats accept come first.
	candidates := []string{
		word + " " + strconv.Itoa(f.below(10_000)), strings.ToLower(word) + "@fields.invalid", fmt.Sprintf("+44 20 7946 0%03d", f.below(1000)),
		fmt.Sprintf("%02d:%02d", f.below(24), f.below(60)), fmt.Sprintf("%s-%d", word, f.below(10_000)), word, strconv.Itoa(1000 + f.below(9000)), "GB", word[:2], word[:1],
	}
	if format := typ.Format; format != nil && format.Name == "pattern" {
		if parsed, err := syntax.Parse(format.Pattern, syntax.Perl); err == nil {
			candidates = slices.Insert(candidates, 0, f.matching(parsed))
		}
	}
	for _, text := range candidates {
		if (typ.Max == 0 || len(text) <= typ.Max) && (typ.Format == nil || typ.Format.Check(text)) {
			return text, true
		}
	}
	return "", typ.Min == 0 && typ.Format == nil
}

// matching makes up a text for a pattern.
func (f *filler) matching(pattern *syntax.Regexp) string {
	repeat := func(least, most int) string {
		if most < 0 || most > least+8 {
			most = least + 8
		}
		var text strings.Builder
		for range least + f.below(most-least+1) {
			text.WriteString(f.matching(pattern.Sub[0]))
		}
		return text.String()
	}
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		// A range that begins with a letter or digit is preferred over one of spaces or controls.
		at := 2 * f.below(len(pattern.Rune)/2)
		low, high := pattern.Rune[at], pattern.Rune[at+1]
		if low < '0' && high >= '0' {
			low = '0'
		}
		return string(low + rune(f.below(int(min(high-low, 25))+1))) //nolint:gosec // at most 25 is added
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune('A' + f.below(26))) //nolint:gosec // a letter
	case syntax.OpCapture:
		return f.matching(pattern.Sub[0])
	case syntax.OpConcat:
		var text strings.Builder
		for _, part := range pattern.Sub {
			text.WriteString(f.matching(part))
		}
		return text.String()
	case syntax.OpAlternate:
		return f.matching(pattern.Sub[f.below(len(pattern.Sub))])
	case syntax.OpStar:
		return repeat(0, -1)
	case syntax.OpPlus:
		return repeat(1, -1)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpRepeat:
		return repeat(pattern.Min, pattern.Max)
	}
	return "" // the beginning, the end and other places between characters
}
