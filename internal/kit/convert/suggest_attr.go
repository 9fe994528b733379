package convert

import (
	"slices"
	"strings"

	"landfall/internal/api/rules"
)

// unused lists the columns that were not placed.
func (w *mapWriter) unused(t *suggestedTable) {
	used := map[int]bool{}
	for column := range t.keys {
		used[column] = true
	}
	if t.placement != nil {
		for s, m := range t.placement.placed {
			for _, column := range t.reads(m) {
				used[column] = true
			}
			for _, other := range t.placement.open[s] {
				used[other.column] = true
			}
		}
	}
	for i, column := range t.columns {
		if used[i] || column == "" {
			continue
		}
		remark := ""
		if codes := t.styles[i].codes; codes != nil && len(codes) < 8 {
			remark = " (" + strings.Join(codes, ", ") + ")"
		}
		remark += w.perhaps(t, i)
		w.line(3, "# not used: "+strings.Map(oneLine, column+remark), "")
	}
}

// perhaps names the attr that a column may fill: one that its name and values suggest, or else one of any
// table that its name suggests.
func (w *mapWriter) perhaps(t *suggestedTable, column int) string {
	if t.placement != nil {
		if m, known := t.placement.hints[column]; known {
			return ", perhaps " + m.slot.field.Name
		}
	}
	best, most, fits := "", placedFrom, true
	for _, kind := range w.kinds {
		if t.placement != nil && kind != t.placement.kind && !kind.isInside(t.placement.kind) && !t.placement.kind.isInside(kind) {
			continue
		}
		context := strings.Fields(kind.context)
		for up := kind.parent; up != nil; up = up.parent {
			context = append(context, strings.Fields(up.context)...)
		}
		for _, field := range kind.object.Fields {
			if field.Type.Shape >= rules.ShapeObject || field.Name == "import_supplier" || field.Name == "external_account_number" {
				continue
			}
			score, _ := matchName(t.names[column], kind, field.Name, context)
			// An attr of the kind that the table has already is filled by another column.
			if t.placement != nil && kind == t.placement.kind {
				if t.placement.slotOf(kind, field.Name) != nil {
					continue
				}
				score += tied
			}
			if score > most {
				best, most, fits = kind.name+"."+field.Name, score, t.styles[column].fits(field) > 0
			}
		}
	}
	switch {
	case best == "":
		return ""
	case !fits:
		return ", perhaps " + best + ", but its values do not look like it"
	}
	return ", perhaps " + best
}

// attr writes one attr.
func (w *mapWriter) attr(depth int, first string, t *suggestedTable, m match) {
	field, name := m.slot.field, t.columns[m.column]
	if m.text != "" {
		w.line(depth, first+field.Name+": "+m.text, "")
		return
	}
	var settings, remarks []string
	open := func(name, remark string) {
		w.open++
		if !strings.Contains(name, chooseMark) {
			name += ": " + chooseMark
		}
		settings, remarks = append(settings, name), append(remarks, remark)
	}
	add := func(more []string, remark string) {
		if settings = append(settings, more...); remark != "" {
			remarks = append(remarks, remark)
		}
	}
	typ, style := field.Type, t.styles[m.column]
	switch {
	case typ.Choices != nil || field.Name == "supply_type":
		if codes := t.styles[m.column].codes; codes != nil && (typ.Choices == nil || !chosen(codes, typ.Choices)) {
			if text := w.translation(codes, field); text != "" {
				settings = append(settings, text)
			}
			if typ.Choices != nil {
				remarks = append(remarks, "one of "+strings.Join(typ.Choices, ", "))
			}
		}
	case typ.Shape == rules.ShapeAmount || typ.Shape == rules.ShapeDecimal:
		money := typ.Shape == rules.ShapeAmount || strings.Contains(field.Name, "amount")
		switch {
		case !style.wholes || !money:
			usual := w.usual
			if isWorkbook(t.file) {
				usual = t
			}
			add(w.numberSettings(t, m, usual))
		case slices.Contains(t.names[m.column][0], "pence"):
			settings = append(settings, "minor_units: 2")
		default:
			open("minor_units", "2 if these are cents, 0 if not")
		}
		w.askSign(t, m, open)
	case typ.Shape == rules.ShapeDate:
		patterns := slices.Concat(dayPatterns, compactPatterns)
		add(w.dateSettings(t.values(m.column), patterns, w.usual.days))
		switch short := shortYears(firstPattern(patterns, t.values(m.column))); {
		case short && field.Name == "date_of_birth":
			add([]string{"century: adult"}, "at least 18 years ago: 24 is 1924")
		case short && !shortYears(w.usual.days):
			add([]string{"century: 50"}, "50 to 99 are 1950 to 1999, the others 2000 to 2049")
		}
	case typ.Shape == rules.ShapeDatetime:
		add(w.dateSettings(t.values(m.column), instantPatterns(), w.usual.instants))
	}
	add(w.noValues(t, m))
	if len(settings) == 0 {
		w.line(depth, first+field.Name+": "+quoted(name), strings.Join(remarks, "; "))
		return
	}
	w.line(depth, first+field.Name+": {column: "+quoted(name)+", "+strings.Join(settings, ", ")+"}", strings.Join(remarks, "; "))
}

// codeWords are codes whose meaning is certain, by the value they stand for.
var codeWords = map[string]string{
	"DOMESTIC":    "domestic residential household privathaushalt domestico doméstico domestique particulier",
	"BUSINESS":    "business commercial gewerbe empresa entreprise company",
	"ELECTRICITY": "electricity elec electric strom luz electricite électricité electricidad elektriciteit elektrizität elektra",
	"GAS":         "gas gaz aardgas erdgas",
	"WATER":       "water wasser eau agua",
	"ONLINE":      "online email e-mail paperless", "PRINT": "print letter post paper",
	"DIRECT_DEBIT": "direct_debit directdebit dd", "CARD": "card",
}

// areFuels reports whether codes are words for what is supplied.
func areFuels(codes []string) bool {
	fuels := strings.Fields(codeWords["ELECTRICITY"] + " " + codeWords["GAS"] + " " + codeWords["WATER"])
	return len(codes) > 0 && !slices.ContainsFunc(codes, func(code string) bool { return !slices.Contains(fuels, strings.ToLower(code)) })
}

// translation writes what codes mean. What is not certain is left open.
func (w *mapWriter) translation(codes []string, field rules.Field) string {
	var pairs []string
	same := true
	for _, code := range codes {
		to := chooseMark
		if field.Type.Choices == nil && len(code) > 3 && code == strings.ToUpper(code) && !strings.ContainsAny(code, " ") {
			to = code
		}
		for _, allowed := range field.Type.Choices {
			if strings.EqualFold(strings.ReplaceAll(code, " ", "_"), allowed) {
				to = allowed
			}
		}
		for allowed, words := range codeWords {
			if (field.Type.Choices == nil || slices.Contains(field.Type.Choices, allowed)) && slices.Contains(strings.Fields(words), strings.ToLower(code)) {
				to = allowed
			}
		}
		if to == chooseMark {
			w.open++
		}
		same = same && to == code
		pairs = append(pairs, quoted(code)+": "+to)
	}
	if same {
		return ""
	}
	return "values: {" + strings.Join(pairs, ", ") + "}"
}

// chosen reports whether codes are already valid choices of an attr.
func chosen(codes, choices []string) bool {
	for _, code := range codes {
		if !slices.Contains(choices, code) {
			return false
		}
	}
	return true
}
