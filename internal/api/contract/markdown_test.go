package contract

import (
	"fmt"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
)

const generated = "<!-- Generated from the declared tables. Change those and run `make generate`. -->\n\n"

// ErrorsMarkdown writes the page about codes and rules.
func ErrorsMarkdown() string {
	var page strings.Builder
	page.WriteString(generated + `# Codes and rules

Every refusal has the same body: ` + "`detail`" + ` for people, a stable ` + "`code`" + ` for machines, and ` + "`errors`" + `,
a list of ` + "`{detail, code, attr}`" + ` that is empty when there is nothing to point at. ` + "`attr`" + ` is the dotted path
of the input: field names and zero-based indexes. A violation never repeats the offending value.

## Codes

The codes of the rule book are further down; they come with status 400 when they refuse.

| code | status | where | meaning |
|---|---|---|---|
`)
	for _, entry := range Codes() {
		if ruleIndex[entry.Code] != nil {
			continue
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", entry.Code, statuses(entry.Status), escaped(entry.Where), escaped(entry.Meaning))
	}
	page.WriteString(`
## The rule book

Rules that look across fields. An ` + "`error`" + ` refuses the request. A ` + "`warning`" + ` accepts it and is listed with
` + "`?include_warnings=true`" + `. A rule that is ` + "`off`" + ` is not looked at. The operator may override the severity per
supplier and rule: ` + "`landfall supplier set CODE --rule RULE=severity`" + `. A rule looks only at values that are
themselves well-formed, so one mistake is reported once.

| rule | default | points at | meaning |
|---|---|---|---|
`)
	for _, rule := range ruleBook {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", rule.Code, rule.Severity, escaped(rule.Where), escaped(rule.Meaning))
	}
	page.WriteString(decisions)
	return page.String()
}

const decisions = `
## What the formats mean

- **External account number**: 1 to 128 characters, compared byte by byte. Control, zero-width, text direction, private
  and unassigned characters and white space at either end are ` + "`invalid_characters`" + `.
- **E-mail**: one bare address at a domain with a dot. Display names, comments, quoted local parts and address literals
  are refused.
- **Phone**: digits, spaces and ` + "`( ) . / -`" + `, with ` + "`+`" + ` only at the beginning. Letters, ` + "`tel:`" + ` forms and digits of other
  scripts are refused; an extension may follow, such as ` + "`ext. 12` or `x12`" + `. The number must be a possible one in the supplier's region.
- **Postcode**: checked for the region GB only, upper or lower case, with one space or none.
- **Document path**: relative to the document root. The rules hold for the path as sent and for whatever percent-decoding
  makes of it. Segments that end in a dot, a leading ` + "`~`" + ` and invisible characters are refused too.
- **Amounts** have at most 2 decimals, **decimals** at most 10; both may be a JSON number or a string. Only the number may have an exponent.
- **Query parameters**: flags are ` + "`true`, `false`, `1` or `0`" + `. A parameter given twice is refused, and so is one that is not
  known at the path: a misspelled flag ignored in silence would do the opposite of what was meant.
- **Content hash** of a staged document: SHA-256 of its bytes as sent. Another spelling is another revision.
- **Sums**: PAYMENT and CREDIT raise a balance, CHARGE, SUPPLY_CHARGE and REPAYMENT lower it. A line item may be one minor
  unit off, a tax less than one, the sum of all items not at all after rounding to two decimals.
- **Pinned notes**: ` + "`unpin_at`" + ` is compared with ` + "`created_at`" + ` only when both are given.
`

// AccountMarkdown writes the page of field tables.
func AccountMarkdown() string {
	var page strings.Builder
	page.WriteString(generated + `# Request bodies

Field names are exact. A field outside these tables is refused, at any depth. ` + "`null`" + ` means the same as leaving an
optional field out; an empty text is a value.

The smallest valid account is:

` + "```json\n" + `{"import_supplier": "S", "external_account_number": "1", "customers": [{}]}
` + "```\n")
	written := make(map[string]bool)
	for _, table := range requestTables {
		for _, each := range reachable(table) {
			if !written[each.Name] {
				written[each.Name] = true
				fieldTable(&page, each)
			}
		}
	}
	return page.String()
}

// fieldTable writes one object. Nested objects are links to their own tables,
// so that each is explained once.
func fieldTable(page *strings.Builder, table *rules.Table) {
	fmt.Fprintf(page, "\n## %s\n\n%s\n\n| field | required | type | meaning |\n|---|---|---|---|\n", table.Name, table.Doc)
	for _, field := range table.Fields {
		required := ""
		if field.Required {
			required = "yes"
		}
		fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", field.Name, required, typeText(&field.Type), escaped(field.Doc))
	}
}

// typeText says in words what a type takes.
func typeText(typ *rules.Type) string {
	switch typ.Shape {
	case rules.ShapeText:
		return textType(typ)
	case rules.ShapeBoolean:
		return "boolean"
	case rules.ShapeInteger:
		return fmt.Sprintf("integer, %d to %d", typ.Low, typ.High)
	case rules.ShapeAmount:
		return "amount, 2 decimals"
	case rules.ShapeDecimal:
		return "decimal, up to 10 decimals"
	case rules.ShapeDate:
		return "date"
	case rules.ShapeDatetime:
		return "datetime"
	case rules.ShapeObject:
		return "[" + typ.Table.Name + "](#" + strings.ToLower(typ.Table.Name) + ")"
	case rules.ShapeList:
		return fmt.Sprintf("list of %d to %d: %s", typ.Min, typ.Max, typeText(typ.Item))
	}
	return "any JSON"
}

// textType says what a text may be, the closed set first: whoever reads the
// table looks for the values before the length.
func textType(typ *rules.Type) string {
	var text string
	switch {
	case typ.Choices != nil:
		text = "`" + strings.Join(typ.Choices, "`, `") + "`"
	case typ.Format != nil && typ.Max == 0:
		text = typ.Format.Name
	case typ.Format != nil:
		text = fmt.Sprintf("%s, at most %d characters", typ.Format.Name, typ.Max)
	default:
		text = fmt.Sprintf("text, %d to %d characters", typ.Min, typ.Max)
	}
	if typ.Min == 0 && (typ.Choices != nil || typ.Format != nil && typ.Max > 0) {
		text += " or empty"
	}
	if typ.Multiline {
		text += ", several lines"
	}
	return text
}

func statuses(list []int) string {
	texts := make([]string, len(list))
	for i, status := range list {
		texts[i] = strconv.Itoa(status)
	}
	return strings.Join(texts, ", ")
}

// escaped keeps Markdown from reading a text as markup.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`).Replace(text)
}
