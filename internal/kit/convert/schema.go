package convert

import (
	"encoding/json"
	"maps"
	"slices"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

//go:generate go test -run TestSchemaIsWritten -update .

// object is a piece of a schema.
type object = map[string]any

// Schema gives the JSON Schema of a map, for editors that complete and check
// what is typed. Whether tables and columns exist only convert can say.
func Schema() []byte {
	text := object{"type": "string"}
	texts := object{"oneOf": []any{text, object{"type": "array", "items": scalar}}}
	schema := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Landfall conversion map", "type": "object",
		"description": "Which column of an old system's tables fills which attr of a book.",
		"required":    []string{"map", "supplier", "tables"}, "additionalProperties": false,
		"properties": object{
			"map":            described(object{"enum": []any{1, "1"}}, "The form the map is written in."),
			"supplier":       described(text, "The code of the import supplier, in every line."),
			"source":         described(object{"type": "object", "properties": dialectSchema(texts), "additionalProperties": false}, "How the tables are written, unless one says otherwise."),
			"values":         described(object{"type": "object", "additionalProperties": translations}, "Translations by name, for attrs that share one."),
			"tables":         described(object{"type": "object", "minProperties": 1, "additionalProperties": ref("table")}, "The tables by a name of your choosing."),
			"control_totals": described(object{"type": "object"}, "What the source says it has, as control-totals.json has it."),
		},
		"$defs": object{
			"table": tableSchema(texts), "place": placeSchema(texts), "attr": attrSchema(texts), "fill": fillSchema(), "condition": conditionSchema(texts),
		},
	}
	encoded, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // maps of texts can always be written
	}
	return append(encoded, '\n')
}

// YAML takes 1 and yes for a number and a truth. A map takes them for the texts
// they are, so that editors must let them pass.
var (
	scalar       = object{"type": []string{"string", "number", "boolean", "null"}}
	translations = object{"type": "object", "additionalProperties": scalar, "description": "What each code means."}
)

// ref points at a definition.
func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// described adds a sentence, which editors show.
func described(schema object, text string) object {
	all := object{"description": text}
	maps.Copy(all, schema)
	return all
}

// choice is one of some words.
func choice(words ...string) object { return object{"enum": words} }

// dialectSchema describes how a table is written.
func dialectSchema(texts object) object {
	letter := object{"type": "string"}
	return object{
		"encoding":  described(object{"enum": charsets}, "How characters are written as bytes. UTF-16 has a byte order mark."),
		"delimiter": described(letter, "What stands between fields: one character, or tab."),
		"quote":     described(letter, "What stands round texts with delimiters or line ends in them: one character, or none."),
		"decimal":   described(letter, "What stands before decimals."),
		"grouping":  described(letter, "What stands between thousands: one character, or none."),
		"dates":     described(texts, "How days are written: with YYYY, YY, MM, M, MON (Jan or January), DD and D."),
		"datetimes": described(texts, "How instants are written: as days, with hh, h, mm and ss."),
		"zone":      described(object{"type": "string"}, "The zone whose clocks show them, such as Europe/London."),
		"empty":     described(texts, "Words that stand for nothing, such as NULL or 00.00.0000."),
	}
}

// settingsOf gives the settings that tables and places have in common.
func settingsOf(_ object) object {
	return object{
		"account":  described(ref("attr"), "The column with the number of the account, for a file of the book."),
		"link":     described(object{"oneOf": []any{object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}}, object{"type": "object", "additionalProperties": object{"type": "string"}}}}, "The columns by which rows belong to a row of the other table; {own: theirs} where they are called differently."),
		"when":     described(ref("condition"), "Only rows of which this holds."),
		"fill":     described(ref("fill"), "Which columns fill which attrs."),
		"optional": described(object{"type": "boolean"}, "There need not be such a row for every row that refers to one."),
		"orphans":  described(choice("keep", "report"), "What becomes of rows for accounts that are not in the book."),
	}
}

// placeSchema describes one of several places of a table.
func placeSchema(texts object) object {
	properties := settingsOf(texts)
	properties["place"] = described(object{"type": "string"}, placeText)
	return object{"type": "object", "properties": properties, "required": []string{"place"}, "additionalProperties": false}
}

// placeText explains places, wherever one is named.
const placeText = "Where rows go: accounts, notes, transactions, statements, payment-instructions, control-totals, TABLE.attr for a list or an object of another table's rows, or TABLE for further attrs of its rows."

// tableSchema describes a table.
func tableSchema(texts object) object {
	properties := settingsOf(texts)
	maps.Copy(properties, dialectSchema(texts))
	properties["file"] = described(texts, "The file, a pattern such as LEDGER-*.CSV, or a list of them.")
	properties["columns"] = described(texts, "The names of the columns, for files whose first line does not have them.")
	properties["into"] = object{"description": placeText, "oneOf": []any{object{"type": "string"}, object{"type": "array", "items": ref("place")}}}
	return object{"type": "object", "properties": properties, "required": []string{"file", "into"}, "additionalProperties": false}
}

// attrSchema describes how an attr is filled.
func attrSchema(texts object) object {
	text, several := object{"type": "string"}, object{"type": "array", "items": ref("attr")}
	properties := object{
		"column": described(text, "The column."), "constant": described(scalar, "The same for every row."),
		"join": described(several, "Several put together, those that are empty left out."), "with": described(text, "What stands between them; a blank if nothing is said."),
		"first": described(several, "The first that is not empty."),
		"trim":  described(scalar, "no keeps the blanks round a text."), "strip": described(text, "Characters to take away in front, such as 0."),
		"split": described(text, "Where the text is cut."), "part": described(object{"type": []string{"integer", "string"}}, "Which part of it, from 1, or from -1 backwards."),
		"upper": described(scalar, "In capitals."), "lower": described(scalar, "In small letters."),
		"values":        object{"description": "What each code means, or the name of a table of values.", "oneOf": []any{text, translations}},
		"otherwise":     described(scalar, "What a code without a translation becomes; keep leaves it as it is."),
		"default":       described(scalar, "What stands for nothing."),
		"dates":         described(texts, "How this one is written."),
		"zone":          described(text, "The zone of this one."),
		"decimal":       described(text, "What stands before the decimals of this one."),
		"grouping":      described(text, "What stands between the thousands of this one."),
		"minor_units":   described(object{"type": []string{"integer", "string"}}, "How many of the last digits are decimals: 2 for cents."),
		"sign":          described(choice("same", "reversed"), "reversed where a debit is positive in the old system."),
		"negative_when": described(ref("condition"), "The number is negative where this holds."),
		"when":          described(ref("condition"), "Only where this holds."),
	}
	return object{"oneOf": []any{
		described(text, "A column, or =constant."),
		object{"type": "object", "properties": properties, "additionalProperties": false},
	}}
}

// conditionSchema describes which rows are wanted.
func conditionSchema(texts object) object {
	return object{
		"type": "object", "minProperties": 1, "description": "Columns and what they must be; all of it at once. Nothing means empty.",
		"additionalProperties": object{"anyOf": []any{scalar, texts, object{
			"type": "object", "additionalProperties": false,
			"properties": object{"is": texts, "not": texts, "empty": object{"type": "boolean"}},
		}}},
	}
}

// fillSchema names every attr there is, with what it means: which of them an
// object has depends on where it goes.
func fillSchema() object {
	docs := map[string][]string{}
	for _, stem := range append([]string{totalsStem}, stemsOfKinds()...) {
		contract.BookTable(stem).Walk(func(_ string, field rules.Field) {
			if !slices.Contains(docs[field.Name], field.Doc) {
				docs[field.Name] = append(docs[field.Name], field.Doc)
			}
		})
	}
	properties := object{}
	for name, texts := range docs {
		// An attr may mean something else in another object. An editor shows one
		// sentence, and that is the first.
		properties[name] = object{"description": texts[0], "anyOf": []any{
			ref("attr"), ref("fill"),
			object{"type": "array", "items": object{"anyOf": []any{ref("attr"), ref("fill")}}},
			object{"type": "object", "properties": object{"rows": object{"type": "string"}}, "required": []string{"rows"}, "additionalProperties": false},
		}}
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// stemsOfKinds names the files of a book.
func stemsOfKinds() (list []string) {
	for _, kind := range book.Kinds() {
		list = append(list, kind.Stem)
	}
	return list
}
