package convert

import (
	"slices"
	"strings"
)

// streetNumberNames are plain names of columns with the house number, which is a part of the street in an address.
var streetNumberNames = strings.Fields(`
	house houseno housenr housenum housenumber houseflatno doorno doornumber streetno streetnr streetnumber buildingno buildingnumber
	hausnr hausno hausnummer hsnr hnr huisnr huisnummer nciv ncivico numciv numcivico numerocivico civico
	novoie numvoie numerovoie numerorue numcalle numerocalle numeroportal`)

// joinStreetNumbers adds the house number beside the column of a street to the line of the address, in the order
// of the columns: some countries write it before the street and others after it.
func (t *suggestedTable) joinStreetNumbers(p *placement) {
	used := map[int]bool{}
	for column := range t.keys {
		used[column] = true
	}
	for _, m := range p.placed {
		used[m.column] = true
	}
	for s, m := range p.placed {
		if s.field.Name != "billing_address1" && s.field.Name != "supply_address1" || m.text != "" {
			continue
		}
		for _, first := range []int{m.column - 1, m.column} { // the first of the two columns
			number := 2*first + 1 - m.column
			if number < 0 || number >= len(t.columns) || used[number] || !t.isStreetNumber(number) {
				continue
			}
			one, other := t.columns[first], t.columns[first+1]
			m.text, m.reads = "{join: ["+quoted(one)+", "+quoted(other)+`], with: " "}`, []string{plainName(one), plainName(other)}
			p.placed[s] = m
			break
		}
	}
}

// isStreetNumber reports whether the name and the values of a column are those of house numbers: short, most of
// them with a digit.
func (t *suggestedTable) isStreetNumber(column int) bool {
	if !slices.Contains(streetNumberNames, plainName(t.columns[column])) {
		return false
	}
	values := t.values(column)
	bad := 0
	for _, value := range values {
		if len(value) > 12 || !strings.ContainsAny(value, "0123456789") {
			bad++
		}
	}
	return len(values) > 0 && bad <= len(values)/10
}
