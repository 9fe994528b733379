package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/money"
)

// templateFuncs are the functions of the views.
func (c *Console) templateFuncs() template.FuncMap {
	times := timeWriter{c.Clock}
	return template.FuncMap{
		"asset": c.assets.path, "path": consolePath, "subject": subjectLink, "actor": actorNames, "auditSubject": auditSubject, "auditWords": auditWords, "detailLinks": detailLinks,
		"number": formatInt, "liveCount": liveCount, "grouped": groupDigits, "total": formatTotal, "bytes": formatBytes,
		"percent": percent, "rate": formatRate, "plural": plural, "dec": func(number int) int { return number - 1 },
		"time": times.time, "ago": times.ago, "clock": times.timeOfDay, "day": times.day, "duration": durationWords, "until": times.until,
		"instant": times.instant,
		"state":   stateBadge, "label": stateLabel, "meaning": contract.Meaning, "code": codeLabel, "action": actionLabel, "person": actorNames, "author": authorName, "detail": auditDetail, "selection": selectionLabel,
		"browser": browserName, "lastPart": lastPart,
		"dict": dict, "list": func(items ...string) []string { return items },
		"barChart": barChart, "qrCode": qrCode, "barTable": barTable, "lineChart": lineChart,
	}
}

// consolePath joins escaped parts to a path below Root.
func consolePath(parts ...string) string {
	var path strings.Builder
	path.WriteString(Root)
	for _, part := range parts {
		path.WriteString(url.PathEscape(part))
		path.WriteByte('/')
	}
	return path.String()
}

// subjectLink links the subject of an audit entry to its page, if it has one.
func subjectLink(text string) template.HTML {
	name := template.HTMLEscapeString(text)
	supplier, external, isAccount := strings.Cut(text, "/")
	switch {
	case isAccount && external != "":
		name = `<a href="` + template.HTMLEscapeString(consolePath("accounts", supplier, external)) + `">` + name + `</a>`
	case strings.HasPrefix(text, "R-") && len(text) == 10:
		name = `<a href="` + template.HTMLEscapeString(consolePath("runs", text)) + `">` + name + `</a>`
	}
	return template.HTML(name) //nolint:gosec // escaped
}

// subjectPages are the pages of what an action is about, by the kind of the action.
var subjectPages = map[string][]string{
	"supplier": {"suppliers"}, "reconciliation": {"suppliers"}, "organisation": {"admin", "organisations"}, "vendor": {"admin", "vendors"},
	"webhook": {"admin", "webhooks"}, "target": {"admin", "targets"},
}

// auditSubject links what an entry of the audit is about. A thing that was removed has
// no page any more.
func auditSubject(entry landfall.AuditEntry) template.HTML {
	kind, act, _ := strings.Cut(entry.Action, ".")
	pages := subjectPages[kind]
	if entry.Action == "run.start" {
		pages = subjectPages["supplier"]
	}
	if pages == nil || act == "remove" || strings.Contains(entry.Subject, "/") {
		return subjectLink(entry.Subject)
	}
	path := template.HTMLEscapeString(consolePath(append(slices.Clone(pages), entry.Subject)...))
	return template.HTML(`<a href="` + path + `">` + template.HTMLEscapeString(entry.Subject) + `</a>`) //nolint:gosec // escaped
}

// dict passes several values to a partial view.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict needs pairs of names and values")
	}
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, is := pairs[i].(string)
		if !is {
			return nil, fmt.Errorf("dict needs names, got %T", pairs[i])
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}

// formatInt writes a number with commas: 12,204.
func formatInt(number any) (string, error) {
	switch number := number.(type) {
	case int:
		return groupDigits(strconv.Itoa(number)), nil
	case int64:
		return groupDigits(strconv.FormatInt(number, 10)), nil
	}
	return "", fmt.Errorf("cannot write %T as a number", number)
}

// liveCount is a number that counts up on a live page.
func liveCount(number any) (template.HTML, error) {
	text, err := formatInt(number)
	return template.HTML(`<span class="count">` + text + `</span>`), err //nolint:gosec // digits and commas
}

// groupDigits puts commas between the thousands of a decimal number. The minus
// sign is as wide as a digit.
func groupDigits(digits string) string {
	return strings.Replace(money.GroupDigits(digits), "-", "−", 1)
}

// formatTotal writes an amount of money: 12,204.20 GBP.
func formatTotal(amount money.Total, currency string) string {
	return strings.TrimSpace(groupDigits(amount.String()) + " " + currency)
}

func formatBytes(bytes int64) string {
	const kilo = 1024
	if bytes < kilo {
		return fmt.Sprintf("%d B", bytes)
	}
	units, number := "KMGTPE", float64(bytes)/kilo
	for number >= kilo && len(units) > 1 {
		units, number = units[1:], number/kilo
	}
	return fmt.Sprintf("%.1f %ciB", number, units[0])
}

// percent writes a share. Only all is 100 % and only none is 0 %.
func percent(share, whole int) string {
	switch {
	case whole <= 0 || share <= 0:
		return "0 %"
	case share >= whole:
		return "100 %"
	case share*1000 < whole:
		return "< 0.1 %"
	case share*1000 > whole*999:
		return "> 99.9 %"
	}
	tenths := share * 1000 / whole
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

func formatRate(thousandths int64) string {
	switch {
	case thousandths >= 10_000: // tenths matter only below ten
		return groupDigits(strconv.FormatInt((thousandths+500)/1000, 10))
	case thousandths <= 0:
		return "0"
	}
	return fmt.Sprintf("%d.%d", thousandths/1000, thousandths%1000/100)
}

// plural writes a number with its noun: 1 account, 2 accounts.
func plural(number any, one, many string) (string, error) {
	text, err := formatInt(number)
	if text == "1" {
		return "1 " + one, err
	}
	return text + " " + many, err
}

// stateLabels are the words for states.
var stateLabels = map[string]string{
	string(landfall.Staged): "staged", string(landfall.Claimed): "running", string(landfall.Imported): "imported",
	string(landfall.Skipped):    "skipped",
	string(landfall.RunWaiting): "waiting", string(landfall.RunRunning): "running", string(landfall.RunPaused): "paused",
	string(landfall.RunFinished): "finished", string(landfall.RunCancelled): "cancelled",
	string(landfall.MailQueued): "waiting", string(landfall.MailSending): "being sent", string(landfall.DeliveryDead): "failed permanently",
	string(landfall.WebhookGone): "receiver gone",
}

// stateClasses are the CSS classes of state labels. Others have a neutral colour.
var stateClasses = map[string]string{
	"imported": "imported", "all imported": "imported", "finished": "imported", "active": "imported", "delivered": "live", "live": "live",
	"reconciled": "imported", "good": "imported", "sent": "imported", "ready": "imported",
	"running": "progress", "being sent": "progress",
	"staged": "staged", "waiting": "staged", "off": "staged", "disabled": "staged", "Complete": "staged", "invited": "staged",
	"failed": "failed", "receiver gone": "failed", "failing": "failed", "revoked": "failed", "failed permanently": "failed", "away": "failed", "refused by vendor": "failed",
	"undone": "refused", "refused": "refused", "paused": "refused", "Paused": "refused", "cancelled": "refused", "expired": "refused",
	"skipped": "skipped", "dry run": "skipped",
}

// selectionLabels name which accounts a run selects.
var selectionLabels = map[string]string{
	string(landfall.SelectPending): "All staged accounts", string(landfall.SelectUntried): "Accounts that have not failed",
	string(landfall.SelectFailed): "Accounts whose last attempt failed",
}

func selectionLabel(selection any) string { return selectionLabels[fmt.Sprint(selection)] }

// stateLabel returns the word for a state.
func stateLabel(state any) string {
	text := fmt.Sprint(state)
	if label := stateLabels[text]; label != "" {
		return label
	}
	return strings.ReplaceAll(text, "_", " ")
}

// stateBadge writes a state with its word and colour.
func stateBadge(state any) template.HTML {
	label := stateLabel(state)
	class := stateClasses[label]
	if class == "" {
		class = "quiet"
	}
	return template.HTML(`<span class="state ` + class + `">` + template.HTMLEscapeString(label) + `</span>`) //nolint:gosec // escaped
}
