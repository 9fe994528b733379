package convert

import (
	"bytes"
	"encoding/json"
	"strings"
)

// summable reports whether the rows of a place can be added up: plain attrs in one object.
func (p *place) summable() bool {
	for i := range p.members {
		if p.members[i].value == nil {
			return false
		}
	}
	return p.mode == asMembers || p.mode == asObject
}

// addSum adds the numbers of a row to those of the rows before it. All other attrs must be the same,
// or the row is reported and the sum is not used.
func (a *joiner) addSum(c *cursor, text []byte) error {
	before, err := readMembers(c.text, c.place.mode == asObject)
	if err != nil {
		return err
	}
	row, err := readMembers(text, false)
	if err != nil {
		return err
	}
	var sum []byte
	for i := range c.place.members {
		m := &c.place.members[i]
		name := strings.Trim(string(m.name), `":`)
		one, two := before[name], row[name]
		switch number := holdsNumbers(m.value.typ); {
		case one == nil && two == nil:
			continue
		case number && one != nil && two != nil:
			one = addTexts(one, two)
		case number && one == nil:
			one = two
		case !number && !bytes.Equal(one, two):
			c.breakAt(c.now.at)
			return a.reject(c.place.table, c.now.at, c.load.counts, Problem{
				Kind: Surplus, Column: strings.Join(c.place.linked, ", "), Value: shortenKey(c.now.key),
				What: name + " differs between rows that are added up",
			})
		}
		sum = append(append(append(sum, '"'), name...), '"', ':')
		sum = append(append(sum, one...), ',')
	}
	if c.place.mode == asObject {
		c.text = append(closeObject(append(append(c.text[:0], '{'), sum...)), ',')
	} else {
		c.text = append(c.text[:0], sum...)
	}
	c.counts[0]++
	for i, count := range c.load.counts {
		c.counts[i+1] += count
	}
	return nil
}

// readMembers reads members that end with a comma.
func readMembers(text []byte, object bool) (members map[string]json.RawMessage, err error) {
	text = bytes.TrimSuffix(text, []byte{','})
	if !object {
		text = append(append([]byte{'{'}, text...), '}')
	}
	return members, json.Unmarshal(text, &members)
}

// addTexts adds two numbers of JSON, both in quotes or both not.
func addTexts(one, two []byte) []byte {
	a, _ := parseExact(bytes.Trim(one, `"`))
	b, _ := parseExact(bytes.Trim(two, `"`))
	a.scaleTo(b.places)
	b.scaleTo(a.places)
	a.value.Add(&a.value, &b.value)
	sum := a.append(nil)
	if one[0] == '"' {
		return append(append([]byte{'"'}, sum...), '"')
	}
	return sum
}
