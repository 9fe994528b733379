package console

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"landfall"
)

var actorInText = regexp.MustCompile(`\b(operator|shell|key):[^\s,;]+`)

func auditDetail(detail string) string { return actorInText.ReplaceAllStringFunc(detail, actorNames) }

// runInText finds runs in the details of the audit and of events.
var runInText = regexp.MustCompile(`\bR-[0-9A-Z]{8}\b`)

func detailLinks(detail string) template.HTML {
	linked := runInText.ReplaceAllStringFunc(template.HTMLEscapeString(auditDetail(detail)), func(run string) string {
		return string(subjectLink(run))
	})
	return template.HTML(linked) //nolint:gosec // escaped
}

// auditedSetting is a setting in a detail of the audit: a name, a value and maybe the
// value before. Values with spaces are quoted.
var auditedSetting = regexp.MustCompile(`^(rule )?([a-z_]+)=("(?:[^"\\]|\\.)*"|.*?)(?: \(was ("(?:[^"\\]|\\.)*"|.*)\))?$`)

// auditWords writes the detail of an entry for people: a setting with its name in words,
// and what it was before. Details that people typed and lists of totals stay as they are.
func auditWords(entry landfall.AuditEntry) string {
	kind, _, _ := strings.Cut(entry.Action, ".")
	switch {
	case kind == "account", kind == "mail", kind == "control_totals", kind == "run" && entry.Action != "run.start":
		return auditDetail(entry.Detail)
	}
	parts, separator := splitSettings(entry.Detail), ", "
	for i, part := range parts {
		found := auditedSetting.FindStringSubmatch(part)
		if found == nil {
			continue
		}
		separator = " · "
		name := codeLabel(found[2])
		value := settingWord(found[2], found[3])
		if found[4] != "" {
			value = settingWord(found[2], found[4]) + " → " + value
		}
		if found[1] != "" {
			name = "Rule “" + name + "”"
		}
		parts[i] = name + ": " + value
	}
	return auditDetail(strings.Join(parts, separator))
}

// splitSettings splits a detail at its commas. Those inside quotes belong to a value.
func splitSettings(detail string) (parts []string) {
	quoted, start := false, 0
	for i := 0; i < len(detail); i++ {
		switch {
		case quoted && detail[i] == '\\':
			i++ // the next one is escaped
		case detail[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(detail[i:], ", "):
			parts, start = append(parts, detail[start:i]), i+len(", ")
		}
	}
	return append(parts, detail[start:])
}

func settingWord(name, value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		value = text
	}
	switch {
	case value == "":
		return "none"
	case value == "true":
		return "yes"
	case value == "false":
		return "no"
	case name == "select" && selectionLabel(value) != "":
		return selectionLabel(value)
	}
	return value
}
