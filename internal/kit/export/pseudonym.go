package export

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// pseudonyms replaces what may identify a person. The type of a field decides, so that a field that
// is added later, or by a pack, is replaced unless it cannot hold a name:
//
//   - Numbers, amounts, dates, booleans, choices and codes stay. Of a date of birth the year stays.
//   - Any other text is replaced, except the fields in keptTexts. E-mail addresses and phone numbers
//     become others that belong to nobody, and of a postcode its area stays.
//
// The same text has the same pseudonym in every export with the same key, so that tables can be
// joined. Without the key nobody can compute it.
type pseudonyms struct {
	key    []byte
	schema *contract.Schema
	lists  map[string]*rules.Table // of whole accounts
}

func newPseudonyms(key []byte, schema *contract.Schema) *pseudonyms {
	return &pseudonyms{key: key, schema: schema, lists: listTables(schema)}
}

// keptTexts are texts that stay, because many accounts share them.
var keptTexts = map[string]bool{
	"import_supplier": true, "title": true, "sales_channel": true, "sales_subchannel": true, "namespace": true, "key": true,
	"register_id": true, "status": true, "scheme": true, "expiry": true,
}

// keptFormats are formats that stay: those that no name has, and the numbers by which accounts,
// transactions and bills are found on the server.
var keptFormats = map[string]bool{
	"code": true, "currency": true, "country": true, "language": true, "external account number": true, "identifier": true,
}

// objectTarget writes an object of a table with pseudonyms.
func (p *pseudonyms) object(dst []byte, table *rules.Table, from *jsonValue) []byte {
	if !from.isObject() {
		return p.unknown(dst, from)
	}
	dst = append(dst, '{')
	for i := range from.members {
		one := &from.members[i]
		dst = rules.AppendName(dst, one.name)
		if field := findField(table, one.name); field != nil {
			dst = p.field(dst, one.name, &field.Type, &one.value)
			continue
		}
		dst = p.unknown(dst, &one.value)
	}
	return append(dst, '}')
}

// findField returns a field of a table, or nil.
func findField(table *rules.Table, name string) *rules.Field {
	if table == nil {
		return nil
	}
	for i := range table.Fields {
		if table.Fields[i].Name == name {
			return &table.Fields[i]
		}
	}
	return nil
}

// fieldTarget writes the value of a field.
func (p *pseudonyms) field(dst []byte, name string, typ *rules.Type, from *jsonValue) []byte {
	switch {
	case from.null():
		return append(dst, "null"...)
	case from.isObject() && typ.Or != nil:
		return p.object(dst, typ.Or.Table, from)
	case from.isObject() && typ.Shape == rules.ShapeObject:
		return p.object(dst, typ.Table, from)
	case from.isList() && typ.Shape == rules.ShapeList:
		dst = append(dst, '[')
		for i := range from.items {
			dst = p.field(rules.AppendComma(dst), name, typ.Item, &from.items[i])
		}
		return append(dst, ']')
	case typ.Shape == rules.ShapeDate && strings.Contains(name, "birth"):
		return rules.AppendString(dst, birthYear(from.plain()))
	case typ.Shape != rules.ShapeText && typ.Shape < rules.ShapeObject && !from.isObject() && !from.isList():
		return append(dst, from.text...)
	case typ.Shape == rules.ShapeText && from.isString():
		return rules.AppendString(dst, p.text(name, typ, from.plain()))
	}
	return p.unknown(dst, from)
}

func (p *pseudonyms) text(name string, typ *rules.Type, text string) string {
	format := ""
	if typ.Format != nil {
		format = typ.Format.Name
	}
	switch {
	case text == "" || typ.Choices != nil || keptFormats[format] || keptTexts[name]:
		return text
	case format == "email":
		return p.of(strings.ToLower(text)) + "@pseudonym.invalid"
	case format == "phone":
		return p.phone(text)
	case strings.HasSuffix(name, "postcode") || name == "postal_code":
		return postcodeArea(text)
	}
	pseudonym := p.of(text)
	if typ.Max > 0 && typ.Max < len(pseudonym) {
		pseudonym = pseudonym[:typ.Max]
	}
	return pseudonym
}

// unknown writes a value that no table describes. Texts are replaced, and objects as a whole, because
// the names of their members may be names of people. Numbers stay.
func (p *pseudonyms) unknown(dst []byte, from *jsonValue) []byte {
	switch {
	case from.isString():
		if text := from.plain(); text != "" {
			return rules.AppendString(dst, p.of(text))
		}
		return append(dst, `""`...)
	case from.isList():
		dst = append(dst, '[')
		for i := range from.items {
			dst = p.unknown(rules.AppendComma(dst), &from.items[i])
		}
		return append(dst, ']')
	case from.isObject():
		return rules.AppendString(dst, p.of(string(from.text)))
	case from.null():
		return append(dst, "null"...)
	}
	return append(dst, from.text...)
}

// of returns the pseudonym of a text: 16 letters and digits.
func (p *pseudonyms) of(text string) string {
	return strings.ToLower(base32.HexEncoding.EncodeToString(p.digest(text)[:10]))
}

func (p *pseudonyms) digest(text string) []byte {
	digest := hmac.New(sha256.New, p.key)
	digest.Write([]byte(text))
	return digest.Sum(nil)
}

// phone returns a number from a range that is reserved for fiction. There are a thousand of them, so
// different numbers can become the same.
func (p *pseudonyms) phone(text string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	if digits == "" {
		return text
	}
	return fmt.Sprintf("+447700900%03d", binary.BigEndian.Uint64(p.digest(digits))%1000)
}

// birthYear keeps the year of a date of birth.
func birthYear(date string) string {
	if len(date) < len("2006") {
		return ""
	}
	return date[:len("2006")] + "-01-01"
}

// postcodeArea keeps the letters a postcode starts with, or its first two characters if it starts with
// a digit.
func postcodeArea(postcode string) string {
	postcode = strings.TrimSpace(postcode)
	rest := strings.TrimLeftFunc(postcode, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) })
	if area := postcode[:len(postcode)-len(rest)]; area != "" {
		return area[:min(len(area), 2)]
	}
	characters := []rune(postcode)
	return string(characters[:min(len(characters), 2)])
}
