package contract

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"landfall/internal/api/rules"
)

const generated = "<!-- Generated from the declared tables. Change those and run `make generate`. -->\n\n"

// ErrorsMarkdown returns the page about codes and rules.
func ErrorsMarkdown() string {
	var page strings.Builder
	page.WriteString(generated + `# Error codes and rules

Every error response has the same form: ` + "`detail`" + ` for people, a stable ` + "`code`" + ` for programs, and ` + "`errors`" + `,
a list of ` + "`{detail, code, attr}`" + `. The list is empty if no single field is at fault. ` + "`attr`" + ` is the dotted path
of the field: names and zero-based indexes. An error never repeats the offending value.

## Codes

The codes of the rules are listed in the next section. A violated rule with severity ` + "`error`" + ` returns status 400.

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
## Rules

These rules check several fields together. An ` + "`error`" + ` refuses the request. With a ` + "`warning`" + ` the request is accepted; add
` + "`?include_warnings=true`" + ` to see warnings. A rule that is ` + "`off`" + ` is not checked. The operator can change the severity per
supplier and rule: ` + "`landfall supplier set CODE --rule RULE=severity`" + `. Rules only check values that are valid on
their own, so each mistake is reported once.

| rule | default | attr | meaning |
|---|---|---|---|
`)
	for _, rule := range ruleBook {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", rule.Code, rule.Severity, escaped(rule.Where), escaped(rule.Meaning))
	}
	page.WriteString(decisions)
	return page.String()
}

const decisions = `
## Formats

- **External account number**: 1 to 128 characters, compared byte by byte. Control, zero-width, text direction, private
  and unassigned characters and leading or trailing white space are ` + "`invalid_characters`" + `.
- **Email**: a single address whose domain contains a dot. Display names, comments, quoted local parts and address literals
  are not allowed.
- **Phone**: digits, spaces and ` + "`( ) . / -`" + `, with ` + "`+`" + ` only at the beginning. Letters, ` + "`tel:`" + ` URIs and non-ASCII
  digits are not allowed; an extension such as ` + "`ext. 12` or `x12`" + ` is. The number must be possible in the supplier's region.
- **Postcode**: checked only for the region GB, in upper or lower case, with or without a space.
- **Document path**: relative to the document root. The rules apply to the path as sent and after
  percent-decoding. Segments that end with a dot, a leading ` + "`~`" + ` and invisible characters are not allowed either.
- **Amounts** have at most as many decimals as the currency (2 in GBP, 0 in JPY, 3 in KWD), **decimals** at most 10; both can be a JSON number or a string. Only a number may have an exponent.
- **Query parameters**: flags are ` + "`true`, `false`, `1` or `0`" + `. Duplicate and unknown parameters are
  refused, because silently ignoring a misspelled flag could do the opposite of what you intended.
- **Content hash** of a staged document: SHA-256 of its bytes as sent. Different formatting is a different revision.
- **Sums**: PAYMENT and CREDIT increase the balance; CHARGE, SUPPLY_CHARGE and REPAYMENT decrease it. A line item may be off by one
  minor unit and a tax by less than one. The sum of all items must match exactly after rounding to the decimals of the currency.
- **Pinned notes**: ` + "`unpin_at`" + ` is compared with ` + "`created_at`" + ` only when both are given.
`

// AccountMarkdown returns the page of field tables.
func AccountMarkdown() string {
	var page strings.Builder
	page.WriteString(generated + `# Request bodies

Field names are case-sensitive. Unknown fields are refused at any depth. ` + "`null`" + ` means the same as leaving an
optional field out; an empty string is a value.

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

// fieldTable writes the table of one object. Nested objects link to their own
// tables, so that each is documented once.
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

// typeText describes a type in words.
func typeText(typ *rules.Type) string {
	switch typ.Shape {
	case rules.ShapeText:
		return textType(typ)
	case rules.ShapeBoolean:
		return "boolean"
	case rules.ShapeInteger:
		return fmt.Sprintf("integer, %d to %d", typ.Low, typ.High)
	case rules.ShapeAmount:
		return "amount"
	case rules.ShapeDecimal:
		if typ.Digits > 0 {
			return fmt.Sprintf("decimal, up to %d digits and %d decimals", typ.Digits, typ.Places)
		}
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
	if typ.Decimals {
		return "object of decimals"
	}
	if typ.Object {
		return "any JSON object"
	}
	return "any JSON"
}

// packMarkdown returns the page of a built-in pack.
func packMarkdown(t *testing.T, name string) string {
	t.Helper()
	schema, err := OpenSchema([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	source := schema.packs[0]
	var page strings.Builder
	fmt.Fprintf(&page, "%s# Pack %s\n\n%s See [packs.md](../packs.md) for how to use it. `landfall pack show %s --example` prints an account "+
		"in which every field is filled.\n", generated, name, source.Description, name)
	tables := reachable(schema.account)
	for _, table := range tables {
		own := schema.fields[table]
		if own == nil {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n", table.Name)
		if packTables[table.Name] != nil {
			fmt.Fprintf(&page, "Fields added to [%s](../account.md#%s).", table.Name, strings.ToLower(table.Name))
		} else {
			page.WriteString(table.Doc)
		}
		if table.Open {
			page.WriteString(" Other fields are kept unchecked.")
		}
		page.WriteString("\n\n| field | required | type | meaning |\n|---|---|---|---|\n")
		for _, field := range table.Fields {
			if !own[field.Name] {
				continue
			}
			required := ""
			if field.Required {
				required = "yes"
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", field.Name, required, packTypeText(&field.Type), escaped(field.Doc))
		}
	}
	page.WriteString("\n## Rules\n\n| code | severity | object | fields | meaning |\n|---|---|---|---|---|\n")
	for _, rule := range source.Rules {
		severity, meaning := rule.Severity, rule.Description
		if known := ruleIndex[rule.Code]; known != nil {
			severity = string(known.Severity)
			if meaning == "" {
				meaning = known.Meaning
			}
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` | %s |\n", rule.Code, severity, rule.Object, strings.Join(rule.Fields, "`, `"), escaped(meaning))
	}
	return page.String()
}

// packTypeText links documented objects to their page.
func packTypeText(typ *rules.Type) string {
	text := typeText(typ)
	if table := tableOf(typ); table != nil && packTables[table.Name] != nil {
		text = strings.Replace(text, "](#", "](../account.md#", 1)
	}
	return text
}

// textType describes a string type. It lists allowed values first, because
// readers look for them before the length.
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
		text = fmt.Sprintf("string, %d to %d characters", typ.Min, typ.Max)
	}
	if typ.Min == 0 && (typ.Choices != nil || typ.Format != nil && typ.Max > 0) {
		text += " or empty"
	}
	if typ.Multiline {
		text += ", may contain line breaks"
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

// escaped escapes Markdown markup in a cell. In code, a backslash would be shown.
func escaped(text string) string {
	parts := strings.Split(strings.ReplaceAll(text, "|", `\|`), "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("*", `\*`, "_", `\_`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
