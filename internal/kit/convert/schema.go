package convert

import (
	"encoding/json"
	"maps"
	"slices"

	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

//go:generate go test -run TestSchemaIsWritten -update .

// jsonObject is a part of a schema.
type jsonObject = map[string]any

// Schema returns the JSON Schema of a map, for editors. Only convert can check whether tables and
// columns exist.
func Schema() []byte {
	text := jsonObject{"type": "string"}
	texts := jsonObject{"oneOf": []any{text, jsonObject{"type": "array", "items": scalar}}}
	schema := jsonObject{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Landfall conversion map", "type": "object",
		"description": "Which column of an old system's tables fills which attr of a book.",
		"required":    []string{"map", "supplier", "tables"}, "additionalProperties": false,
		"properties": jsonObject{
			"map":            withDescription(jsonObject{"enum": []any{1, "1"}}, "The version of the map format."),
			"supplier":       withDescription(text, "The code of the import supplier, in every line."),
			"packs":          withDescription(jsonObject{"type": "array", "items": text, "minItems": 1}, "Packs whose attrs the map fills: NAME@VERSION of a built-in one, or a file beside the map."),
			"source":         withDescription(jsonObject{"type": "object", "properties": dialectSchema(texts), "additionalProperties": false}, "The format of the tables; a table can override it."),
			"values":         withDescription(jsonObject{"type": "object", "additionalProperties": translations}, "Translations by name, for attrs that share one."),
			"tables":         withDescription(jsonObject{"type": "object", "minProperties": 1, "additionalProperties": ref("table")}, "The tables by a name of your choosing."),
			"control_totals": withDescription(jsonObject{"type": "object"}, "The totals of the source, as in control-totals.json."),
		},
		"$defs": jsonObject{
			"table": tableSchema(texts), "place": placeSchema(texts), "attr": attrSchema(texts), "fill": fillSchema(), "value": valueSchema, "condition": conditionSchema(texts),
			"signs": jsonObject{"type": "object", "additionalProperties": enumOf("plus", "minus", "+", "-")},
		},
	}
	encoded, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // cannot fail
	}
	return append(encoded, '\n')
}

// YAML reads 1 and yes as a number and a boolean. A map treats them as text, so the schema allows
// them.
var (
	scalar       = jsonObject{"type": []string{"string", "number", "boolean", "null"}}
	translations = jsonObject{"type": "object", "additionalProperties": scalar, "description": "What each code means."}
)

// ref refers to a definition.
func ref(name string) jsonObject { return jsonObject{"$ref": "#/$defs/" + name} }

// withDescription adds a description, which editors show.
func withDescription(schema jsonObject, text string) jsonObject {
	all := jsonObject{"description": text}
	maps.Copy(all, schema)
	return all
}

// enumOf is one of some words.
func enumOf(words ...string) jsonObject { return jsonObject{"enum": words} }

// dialectSchema describes a dialect.
func dialectSchema(texts jsonObject) jsonObject {
	letter := jsonObject{"type": "string"}
	return jsonObject{
		"encoding":      withDescription(jsonObject{"enum": charsets}, "The character encoding. UTF-16 needs a byte order mark."),
		"delimiter":     withDescription(letter, "The delimiter between fields: one character, tab, or detect."),
		"quote":         withDescription(letter, "The quote around texts that contain delimiters or line ends: one character, or none."),
		"escape":        withDescription(letter, "The character before special characters, as MySQL writes them: backslash, or none."),
		"multiline":     withDescription(jsonObject{"type": "boolean"}, "Quoted texts may contain lines that look like rows. Otherwise such a row is reported, because a quote is perhaps not closed."),
		"decimal":       withDescription(letter, "The decimal mark."),
		"grouping":      withDescription(letter, "The mark between thousands: one character, or none."),
		"signs":         withDescription(ref("signs"), signsText),
		"currency":      withDescription(texts, currencyText),
		"dates":         withDescription(texts, "The format of dates: YYYY, YY, MM, M, MON (Jan or January), DD and D."),
		"century":       withDescription(jsonObject{"type": []string{"integer", "string"}}, centuryText),
		"mixed_formats": withDescription(jsonObject{"enum": mixedChoices}, mixedText),
		"datetimes":     withDescription(texts, "The format of times: as for dates, with hh, h, mm and ss."),
		"zone":          withDescription(jsonObject{"type": "string"}, "The time zone of these times, such as Europe/London."),
		"clock_changes": withDescription(jsonObject{"enum": clockChoices}, "What to do with times that do not exist or exist twice, because the clock was changed: report them, or take the earlier or later instant."),
		"empty":         withDescription(texts, "Words that mean an empty value, such as NULL or 00.00.0000."),
	}
}

// The descriptions of settings that a dialect and an attr have.
const (
	signsText    = "Words beside numbers that say their sign, such as {CR: plus, DR: minus}."
	currencyText = "Currencies beside numbers, such as £ or GBP."
	centuryText  = "What two-digit years mean: past if the dates are never in the future, adult if they are at least 18 years ago, for dates of birth, or the first year of the last century, such as 50."
	minorText    = "How many of the last digits are decimals: 2 for cents."
	mixedText    = "What to do with numbers and dates that can be read in two ways, in a column that has both: report them, or keep them as the map says."
)

// placeSettingsSchema describes the settings of tables and places.
func placeSettingsSchema(_ jsonObject) jsonObject {
	return jsonObject{
		"account":  withDescription(ref("attr"), "The column with the number of the account, for a file of the book."),
		"link":     withDescription(jsonObject{"oneOf": []any{jsonObject{"type": "string"}, jsonObject{"type": "array", "items": jsonObject{"type": "string"}}, jsonObject{"type": "object", "additionalProperties": jsonObject{"type": "string"}}}}, "The columns by which rows belong to a row of the other table; {own: theirs} where they are called differently."),
		"when":     withDescription(ref("condition"), "Only rows that meet this condition."),
		"fill":     withDescription(ref("fill"), "Which columns fill which attrs."),
		"optional": withDescription(jsonObject{"type": "boolean"}, "A row that refers to this table need not find one."),
		"several":  withDescription(severalSchema, "Which of several rows for the same account or link is used: the first, the last, the newest, or all added up."),
		"orphans":  withDescription(jsonObject{"anyOf": []any{enumOf("keep", "report"), dropSchema}}, "What happens to rows for accounts or links that do not exist: report them, keep them, or drop them for a reason."),
	}
}

// severalSchema and dropSchema describe two settings of places.
var (
	severalSchema = func() jsonObject {
		columns := jsonObject{}
		for _, how := range columnChoices {
			columns[how] = ref("attr")
		}
		return jsonObject{"anyOf": []any{enumOf(severalChoices...), jsonObject{"type": "object", "properties": columns, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}}}
	}()
	dropSchema = jsonObject{"type": "object", "properties": jsonObject{"drop": jsonObject{"type": "string"}}, "required": []string{"drop"}, "additionalProperties": false}
)

// placeSchema describes one of several places.
func placeSchema(texts jsonObject) jsonObject {
	properties := placeSettingsSchema(texts)
	properties["place"] = withDescription(jsonObject{"type": "string"}, placeText)
	return jsonObject{"type": "object", "properties": properties, "required": []string{"place"}, "additionalProperties": false}
}

// placeText is the description of a place.
const placeText = "Where rows go: accounts, notes, transactions, statements, payment-instructions, control-totals, TABLE.attr for a list or an object of another table's rows, or TABLE for further attrs of its rows."

// tableSchema describes a table.
func tableSchema(texts jsonObject) jsonObject {
	properties := placeSettingsSchema(texts)
	maps.Copy(properties, dialectSchema(texts))
	properties["file"] = withDescription(texts, "The file, a pattern such as LEDGER-*.CSV, or a list of them. An Excel workbook ends with .xlsx.")
	properties["sheet"] = withDescription(jsonObject{"type": "string"}, "The sheet of a workbook; the first one by default.")
	properties["header"] = withDescription(jsonObject{"type": []string{"integer", "string"}}, "The line with the column names, if it is not the first one.")
	properties["fixed"] = withDescription(jsonObject{"type": "object", "minProperties": 1, "additionalProperties": jsonObject{"type": []string{"integer", "string"}}}, "The columns of lines without delimiters and their positions, such as {ACCT: 1-8, NAME: 9-40, TEXT: 41-}.")
	properties["skip"] = withDescription(texts, "Regular expressions for lines that are not rows, such as the last line with totals.")
	properties["distinct"] = withDescription(scalar, "Rows that are repeated are used once.")
	properties["columns"] = withDescription(texts, "The names of the columns, for files whose first line does not have them.")
	properties["into"] = jsonObject{"description": placeText, "oneOf": []any{jsonObject{"type": "string"}, jsonObject{"type": "array", "items": ref("place")}}}
	return jsonObject{"type": "object", "properties": properties, "required": []string{"file", "into"}, "additionalProperties": false}
}

// attrSchema describes how an attr is filled.
func attrSchema(texts jsonObject) jsonObject {
	text, several := jsonObject{"type": "string"}, jsonObject{"type": "array", "items": ref("attr")}
	properties := jsonObject{
		"column": withDescription(text, "The column."), "constant": withDescription(scalar, "The same value for every row."),
		"join": withDescription(several, "Several values joined; empty ones are left out."), "with": withDescription(text, "The text between them; a space by default."),
		"first": withDescription(several, "The first that is not empty."), "sum": withDescription(several, "The sum of several numbers; empty ones are left out."),
		"product": withDescription(several, "The product of several numbers."),
		"extract": withDescription(text, "A regular expression: the text becomes its first group, or all that it finds. gb-postcode finds a postcode."),
		"remove":  withDescription(text, "A regular expression: what it finds is removed."),
		"trim":    withDescription(scalar, "no keeps the spaces around a text."), "strip": withDescription(text, "Characters to remove at the start, such as 0."),
		"split": withDescription(text, "Where to split the text."), "part": withDescription(jsonObject{"type": []string{"integer", "string"}}, "Which part to take: 1 is the first, -1 the last."),
		"upper": withDescription(scalar, "In capitals."), "lower": withDescription(scalar, "Converts to lower case."),
		"values":        jsonObject{"description": "What each code means, or the name of a table of values.", "oneOf": []any{text, translations}},
		"otherwise":     withDescription(scalar, "The value of a code without a translation, or of a text in which extract finds nothing; keep leaves it unchanged."),
		"default":       withDescription(scalar, "The value if it is empty."),
		"dates":         withDescription(texts, "The format of this date or time."),
		"century":       withDescription(jsonObject{"type": []string{"integer", "string"}}, centuryText),
		"days":          withDescription(jsonObject{"type": []string{"integer", "string"}}, "Days to add to the date: +1 if the end is inclusive in the old system and not here."),
		"zone":          withDescription(text, "The time zone of this time."),
		"signs":         withDescription(ref("signs"), signsText),
		"currency":      withDescription(texts, currencyText),
		"round":         withDescription(jsonObject{"type": []string{"integer", "string"}}, "The number of decimals to round to, half away from zero. Nothing is rounded without it."),
		"mixed_formats": withDescription(jsonObject{"enum": mixedChoices}, mixedText),
		"decimal":       withDescription(text, "The decimal mark of this number."),
		"grouping":      withDescription(text, "The mark between thousands of this number."),
		"minor_units":   withDescription(jsonObject{"type": []string{"integer", "string"}}, minorText),
		"sign":          withDescription(enumOf("same", "reversed"), "reversed if a debit is positive in the old system."),
		"negative_when": withDescription(ref("condition"), "The number is negative if this condition is met."),
		"positive_when": withDescription(ref("condition"), "The number is positive if this condition is met. With it, a number is refused if neither this nor negative_when is met."),
		"when":          withDescription(ref("condition"), "Only if this condition is met."),
	}
	return jsonObject{"oneOf": []any{
		withDescription(text, "A column, or =constant."),
		jsonObject{"type": "object", "properties": properties, "additionalProperties": false},
	}}
}

// conditionSchema describes a condition.
func conditionSchema(texts jsonObject) jsonObject {
	properties := jsonObject{
		"is": texts, "not": texts, "empty": jsonObject{"type": "boolean"},
		"matches": withDescription(jsonObject{"type": "string"}, "A regular expression that the text must match."),
		"above":   boundSchema, "at_least": boundSchema, "below": boundSchema, "at_most": boundSchema,
		"minor_units": withDescription(jsonObject{"type": []string{"integer", "string"}}, minorText),
	}
	usual := dialectSchema(texts)
	for _, name := range testSettings {
		if properties[name] == nil {
			properties[name] = usual[name]
		}
	}
	return jsonObject{
		"type": "object", "minProperties": 1, "description": "Columns and their required values; all must match. No value means empty.",
		"additionalProperties": jsonObject{"anyOf": []any{scalar, texts, jsonObject{"type": "object", "additionalProperties": false, "properties": properties}}},
	}
}

// boundSchema describes a comparison.
var boundSchema = jsonObject{"type": []string{"string", "number"}, "description": "A number such as 12.50, or a date such as 2026-12-31."}

// valueSchema is what an attr can be filled with.
var valueSchema = jsonObject{"anyOf": []any{
	ref("attr"), ref("fill"),
	jsonObject{"type": "array", "items": jsonObject{"anyOf": []any{ref("attr"), ref("fill")}}},
	jsonObject{"type": "object", "properties": jsonObject{"rows": jsonObject{"type": "string"}}, "required": []string{"rows"}, "additionalProperties": false},
}}

// fillSchema lists all attrs with their descriptions. Which of them an object has depends on its
// place.
func fillSchema() jsonObject {
	docs := map[string][]string{}
	for _, stem := range append([]string{totalsStem}, bookStems()...) {
		contract.BookTable(stem).Walk(func(_ string, field rules.Field) {
			if !slices.Contains(docs[field.Name], field.Doc) {
				docs[field.Name] = append(docs[field.Name], field.Doc)
			}
		})
	}
	for _, name := range pack.BuiltinNames() {
		schema, err := contract.OpenSchema([]string{name}, nil)
		if err != nil {
			panic(err) // a test reads them all
		}
		schema.BookTable("accounts").Walk(func(_ string, field rules.Field) {
			docs[field.Name] = append(docs[field.Name], field.Doc)
		})
	}
	properties := jsonObject{}
	for name, texts := range docs {
		// An attr may differ between objects. Editors show one description, so the first is used.
		properties[name] = withDescription(ref("value"), texts[0])
	}
	return jsonObject{"type": "object", "properties": properties, "additionalProperties": false}
}

// bookStems returns the files of a book.
func bookStems() (list []string) {
	for _, kind := range book.Kinds() {
		list = append(list, kind.Stem)
	}
	return list
}
