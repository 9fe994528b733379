package export

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonValue is a JSON value. Its text is known to be valid.
type jsonValue struct {
	text    []byte      // without white space around it
	members []member    // of an object
	items   []jsonValue // of a list
}

type member struct {
	name  string
	value jsonValue
}

// parseValue parses a text that was validated before.
func parseValue(text []byte) jsonValue {
	p := parser{text: text}
	return p.value()
}

// member returns a member of an object, or a value that is null.
func (v *jsonValue) member(name string) *jsonValue {
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return &jsonValue{}
}

// null reports whether there is no value.
func (v *jsonValue) null() bool { return len(v.text) == 0 || v.text[0] == 'n' }

func (v *jsonValue) isObject() bool { return len(v.text) > 0 && v.text[0] == '{' }
func (v *jsonValue) isList() bool   { return len(v.text) > 0 && v.text[0] == '[' }
func (v *jsonValue) isString() bool { return len(v.text) > 0 && v.text[0] == '"' }

// plain returns a string without quotes and escapes, "" for null, and anything else as it is written.
func (v *jsonValue) plain() string {
	switch {
	case v.null():
		return ""
	case v.isString():
		return unquote(v.text)
	}
	return string(v.text)
}

func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var plain string
	_ = json.Unmarshal(text, &plain) // it was validated before
	return plain
}

// parser splits a valid JSON text into values.
type parser struct {
	text []byte
	at   int
}

// next skips white space, commas and colons.
func (p *parser) next() byte {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			p.at++
		default:
			return c
		}
	}
	return 0
}

func (p *parser) value() (v jsonValue) {
	first := p.next()
	start := p.at
	switch first {
	case '{':
		for p.at++; p.next() != '}'; {
			name := unquote(p.scalar())
			v.members = append(v.members, member{name, p.value()})
		}
		p.at++
	case '[':
		for p.at++; p.next() != ']'; {
			v.items = append(v.items, p.value())
		}
		p.at++
	default:
		p.scalar()
	}
	v.text = p.text[start:p.at]
	return v
}

// scalar returns the text of a string, number or word.
func (p *parser) scalar() []byte {
	start := p.at
	if p.text[p.at] == '"' {
		for p.at++; p.text[p.at] != '"'; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		p.at++
		return p.text[start:p.at]
	}
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r,:]}", p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[start:p.at]
}
