package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/money"
)

// templateFuncs are what views can do with values, for readers of one time zone.
func (c *Console) templateFuncs(zone *time.Location) template.FuncMap {
	clock := timeWriter{zone, c.Clock}
	return template.FuncMap{
		"asset": c.assets.path, "path": consolePath, "url": url.QueryEscape,
		"n": formatInt, "tick": liveCount, "amount": amount, "total": formatTotal, "bytes": formatBytes, "percent": percent, "thousandths": formatRate,
		"time": clock.time, "ago": clock.ago, "clock": clock.timeOfDay, "day": clock.day, "lasts": durationWords, "until": clock.until,
		"mask": Mask, "maskmail": MaskMail, "maskphone": MaskPhone,
		"state": stateBadge, "word": stateLabel, "plural": plural, "dict": dict, "lower": strings.ToLower, "list": stringList,
		"bar": barChart, "bars": barTable, "line": clock.lineChart, "group": grouped, "said": clock.instant, "dec": dec, "subject": subjectLink, "meaning": contract.Meaning,
	}
}

// consolePath builds a path below the root from parts, each of them escaped.
func consolePath(parts ...string) string {
	var path strings.Builder
	path.WriteString(Root)
	for _, part := range parts {
		path.WriteString(url.PathEscape(part))
		path.WriteByte('/')
	}
	return path.String()
}

// subjectLink links what an entry of the audit is about, where that has a page.
func subjectLink(text string) template.HTML {
	name := template.HTMLEscapeString(text)
	supplier, external, account := strings.Cut(text, "/")
	switch {
	case account && external != "":
		name = `<a href="` + template.HTMLEscapeString(consolePath("accounts", supplier, external)) + `">` + name + `</a>`
	case strings.HasPrefix(text, "R-") && len(text) == 10:
		name = `<a href="` + template.HTMLEscapeString(consolePath("runs", text)) + `">` + name + `</a>`
	}
	return template.HTML(name) //nolint:gosec // escaped
}

// dict lets a view hand several values to a partial.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		// An error and not a panic: a view with a slip ends as a page that could not be shown,
		// and the log names the view.
		return nil, errors.New("dict wants names and values")
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, is := pairs[i].(string)
		if !is {
			return nil, fmt.Errorf("dict wants names, not %T", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

func stringList(words ...string) []string { return words }

// formatInt writes a number with commas: 12,204.
func formatInt(number any) (string, error) {
	switch number := number.(type) {
	case int:
		return grouped(strconv.Itoa(number)), nil
	case int64:
		return grouped(strconv.FormatInt(number, 10)), nil
	case uint64:
		return grouped(strconv.FormatUint(number, 10)), nil
	case money.Total:
		return grouped(number.Digits()), nil
	}
	// Refused rather than printed as it is: a float that slipped into a view would show digits
	// that nobody counted.
	return "", fmt.Errorf("%T is no number", number)
}

// liveCount is a number that counts up in place while the page is live.
func liveCount(number any) (template.HTML, error) {
	text, err := formatInt(number)
	return template.HTML(`<span class="count">` + text + `</span>`), err //nolint:gosec // digits and commas
}

// grouped puts commas between thousands of a decimal number.
func grouped(digits string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		// The true minus sign is as wide as digits are, so that columns stay aligned.
		sign, digits = "−", rest
	}
	whole, fraction, broken := strings.Cut(digits, ".")
	var out strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(digit)
	}
	if broken {
		out.WriteString("." + fraction)
	}
	return sign + out.String()
}

// amount writes money with commas and its currency: 12,204.20 GBP.
func amount(value money.Amount, currency string) string {
	return strings.TrimSpace(grouped(value.String()) + " " + currency)
}

// formatTotal is amount for sums over many accounts.
func formatTotal(value money.Total, currency string) string {
	return strings.TrimSpace(grouped(value.String()) + " " + currency)
}

// formatBytes writes a number of bytes for people.
func formatBytes(bytes int64) string {
	const kilo = 1024
	if bytes < kilo {
		return fmt.Sprintf("%d B", bytes)
	}
	units, value := "KMGTPE", float64(bytes)/kilo
	for value >= kilo && len(units) > 1 {
		units, value = units[1:], value/kilo
	}
	return fmt.Sprintf("%.1f %ciB", value, units[0])
}

// percent writes a part of a whole; never 100 or 0 unless it is all or nothing.
func percent(part, whole int64) string {
	switch {
	case whole <= 0 || part <= 0:
		return "0 %"
	case part >= whole:
		return "100 %"
	// A tenth of a percent of a million accounts is a thousand of them: what is nearly all or
	// nearly none is never rounded to it.
	case part*1000 < whole:
		return "< 0.1 %"
	case part*1000 > whole*999:
		return "> 99.9 %"
	}
	tenths := part * 1000 / whole
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// formatRate writes a number that was counted in thousandths, as rates are.
func formatRate(number int64) string {
	switch {
	case number >= 10_000:
		// From ten on tenths are noise in a rate; below they are most of what it says.
		return grouped(strconv.FormatInt((number+500)/1000, 10))
	case number <= 0:
		return "0"
	}
	return fmt.Sprintf("%d.%d", number/1000, number%1000/100)
}

// plural writes a number with its noun: 1 account, 2 accounts.
func plural(number any, one, many string) (string, error) {
	text, err := formatInt(number)
	if text == "1" {
		return "1 " + one, err
	}
	return text + " " + many, err
}

// Mask shows that somebody has a name without showing it: A•• L•••••••.
func Mask(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		first, _ := utf8.DecodeRuneInString(word)
		// The length shows and so helps to tell two persons apart; one dot is the least, so
		// that a name of a single letter looks masked too.
		words[i] = string(first) + strings.Repeat("•", max(1, utf8.RuneCountInString(word)-1))
	}
	return strings.Join(words, " ")
}

// MaskMail shows where somebody gets his mail: •••@mail.co.uk.
func MaskMail(text string) string {
	if _, host, is := strings.Cut(text, "@"); is {
		return "•••@" + host
	}
	return Mask(text)
}

// MaskPhone shows the last two digits.
func MaskPhone(text string) string {
	// Of a number this short two digits would be half of it.
	if utf8.RuneCountInString(text) <= 4 {
		return strings.Repeat("•", utf8.RuneCountInString(text))
	}
	return "•••• ••" + text[len(text)-2:]
}

// stateLabels is what states are called and coloured by, everywhere.
var stateLabels = map[string]string{
	string(landfall.Staged): "staged", string(landfall.Claimed): "in progress", string(landfall.Imported): "imported",
	string(landfall.Skipped):    "skipped",
	string(landfall.RunWaiting): "waiting", string(landfall.RunRunning): "running", string(landfall.RunPaused): "paused",
	string(landfall.RunFinished): "finished", string(landfall.RunCancelled): "cancelled",
}

// stateClasses is the class of each word; words without one are quiet.
var stateClasses = map[string]string{
	"imported": "imported", "all imported": "imported", "finished": "imported", "Ongoing": "imported", "active": "imported", "reconciled": "imported", "good": "imported", "sent": "imported", "ready": "imported",
	"in progress": "progress", "running": "progress",
	"staged": "staged", "waiting": "staged", "off": "staged", "disabled": "staged", "Complete": "staged", "queued": "staged", "invited": "staged",
	"failed": "failed", "gone": "failed", "failing": "failed", "revoked": "failed", "dead": "failed", "away": "failed", "refused by vendor": "failed",
	"refused": "refused", "paused": "refused", "Paused": "refused", "cancelled": "refused", "expired": "refused",
	"skipped": "skipped", "dry run": "skipped",
}

// stateLabel is what people call a state.
func stateLabel(value any) string {
	text := fmt.Sprint(value)
	if known := stateLabels[text]; known != "" {
		return known
	}
	return text
}

// stateBadge writes a state with its word and its colour.
func stateBadge(value any) template.HTML {
	called := stateLabel(value)
	class := stateClasses[called]
	if class == "" {
		class = "quiet"
	}
	return template.HTML(`<span class="state ` + class + `">` + template.HTMLEscapeString(called) + `</span>`) //nolint:gosec // escaped
}
