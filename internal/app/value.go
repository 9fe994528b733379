package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"landfall/internal/outbound/guard"
)

// settingValue is the variable of one setting, which can be set from text and written as
// text.
type settingValue interface {
	set(text string) error
	text() string
	kind() string // shown in the help after the flag's name
	reset()       // to the default
}

// binding implements value: a target, its default, and how to parse and format
// it.
type binding[T any] struct {
	target   *T
	fallback T
	kindName string
	parse    func(string) (T, error)
	format   func(T) string
}

// set keeps the old value if the new one is invalid.
func (p binding[T]) set(text string) error {
	parsed, err := p.parse(text)
	if err == nil {
		*p.target = parsed
	}
	return err
}

func (p binding[T]) text() string { return p.format(*p.target) }
func (p binding[T]) kind() string { return p.kindName }
func (p binding[T]) reset()       { *p.target = p.fallback }

// textSetting accepts what its check accepts. The check never repeats the value.
func textSetting(target *string, standard string, check func(string) error) settingValue {
	return binding[string]{target, standard, "text",
		func(text string) (string, error) { return text, check(text) },
		func(text string) string { return text }}
}

// namesSetting accepts a comma-separated list of words; its error repeats none of
// them.
func namesSetting(target *[]string, form *regexp.Regexp, want string) settingValue {
	return binding[[]string]{target, nil, "names",
		func(text string) ([]string, error) {
			var found []string
			for word := range strings.SplitSeq(text, ",") {
				if word = strings.TrimSpace(word); word != "" && !form.MatchString(word) {
					return nil, errors.New(want)
				} else if word != "" {
					found = append(found, word)
				}
			}
			return found, nil
		},
		func(found []string) string { return strings.Join(found, ",") }}
}

// secretKind marks settings whose value is never shown.
const secretKind = "secret"

// secretSetting accepts anything and never returns it, so that neither the help
// nor the handbook can show it.
func secretSetting(target *string) settingValue {
	return binding[string]{target, "", secretKind,
		func(text string) (string, error) { return text, nil },
		func(string) string { return "" }}
}

// boolSetting accepts only true and false, because "no" and "0" mean different
// things to different people.
func boolSetting(target *bool, standard bool) settingValue {
	return binding[bool]{target, standard, "bool",
		func(text string) (bool, error) {
			if text != "true" && text != "false" {
				return false, errors.New("want true or false")
			}
			return text == "true", nil
		}, strconv.FormatBool}
}

// durationSetting accepts durations within limits, which the error names.
func durationSetting(target *time.Duration, standard, low, high time.Duration) settingValue {
	return binding[time.Duration]{target, standard, "duration",
		func(text string) (time.Duration, error) {
			parsed, err := ParseDuration(text)
			if err != nil || parsed < low || parsed > high {
				return 0, fmt.Errorf("want a duration from %s to %s", formatDuration(low), formatDuration(high))
			}
			return parsed, nil
		}, formatDuration}
}

// countSetting accepts whole numbers within limits.
func countSetting(target *int, standard, low, high int) settingValue {
	return binding[int]{target, standard, "number",
		func(text string) (int, error) {
			parsed, err := strconv.Atoi(text)
			if err != nil || parsed < low || parsed > high {
				return 0, fmt.Errorf("want a whole number from %d to %d", low, high)
			}
			return parsed, nil
		}, strconv.Itoa}
}

// sizeSetting accepts a number of bytes within limits, with or without a binary
// unit.
func sizeSetting(target *int64, standard, low, high int64) settingValue {
	return binding[int64]{target, standard, "size",
		func(text string) (int64, error) {
			parsed, err := parseSize(text)
			if err != nil || parsed < low || parsed > high {
				return 0, fmt.Errorf("want a size from %s to %s", formatSize(low), formatSize(high))
			}
			return parsed, nil
		}, formatSize}
}

// memorySetting accepts a size, or a word that replaces one.
func memorySetting(target *int64) settingValue {
	const low, high = 64 << 20, 1 << 40
	words := map[string]int64{"auto": autoMemory, "off": 0}
	return binding[int64]{target, autoMemory, "size",
		func(text string) (int64, error) {
			if named, ok := words[text]; ok {
				return named, nil
			}
			parsed, err := parseSize(text)
			if err != nil || parsed < low || parsed > high {
				return 0, fmt.Errorf("want auto, off or a size from %s to %s", formatSize(low), formatSize(high))
			}
			return parsed, nil
		}, func(bytes int64) string {
			for word, named := range words {
				if bytes == named {
					return word
				}
			}
			return formatSize(bytes)
		}}
}

// levelSetting accepts the names of the slog levels.
func levelSetting(target *slog.Level, standard slog.Level) settingValue {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	return binding[slog.Level]{target, standard, "level",
		func(text string) (slog.Level, error) {
			parsed, ok := levels[text]
			if !ok {
				return 0, errors.New("want debug, info, warn or error")
			}
			return parsed, nil
		}, func(level slog.Level) string { return strings.ToLower(level.String()) }}
}

// proxiesSetting accepts a comma-separated list of addresses and networks.
func proxiesSetting(target *trustedProxies) settingValue {
	return binding[trustedProxies]{target, nil, "networks", parseProxies, trustedProxies.String}
}

// prefixesSetting accepts networks that outbound calls may reach.
func prefixesSetting(target *[]netip.Prefix) settingValue {
	return binding[[]netip.Prefix]{target, nil, "networks",
		func(text string) ([]netip.Prefix, error) {
			if text == "" {
				return nil, nil
			}
			return guard.Networks(strings.Split(strings.ReplaceAll(text, " ", ""), ","))
		},
		func(found []netip.Prefix) string {
			texts := make([]string, len(found))
			for i, network := range found {
				texts[i] = network.String()
			}
			return strings.Join(texts, ",")
		}}
}

// ParseDuration accepts what time.ParseDuration accepts, and days: 90d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		// With 16 bits the result always fits into a duration, and ParseUint
		// refuses a sign.
		number, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(number) * day, err
	}
	return time.ParseDuration(text)
}

// formatDuration formats a duration as people type it: 2m, not 2m0s.
func formatDuration(length time.Duration) string {
	if length >= day && length%day == 0 {
		return strconv.Itoa(int(length/day)) + "d"
	}
	written := length.String() // 2m0s, 1h0m0s
	if strings.HasSuffix(written, "m0s") {
		written = strings.TrimSuffix(written, "0s")
	}
	if strings.HasSuffix(written, "h0m") {
		written = strings.TrimSuffix(written, "0m")
	}
	return written
}

// units are ordered from the largest, so that a size is shown in the unit it was
// given in.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// parseSize limits the number to 32 bits, so that multiplying by the unit cannot
// overflow.
func parseSize(text string) (int64, error) {
	for _, unit := range units {
		if digits, ok := strings.CutSuffix(text, unit.name); ok {
			number, err := strconv.ParseInt(digits, 10, 32)
			return number * unit.bytes, err
		}
	}
	return 0, strconv.ErrSyntax
}

// formatSize uses the largest unit that gives a whole number.
func formatSize(bytes int64) string {
	for _, unit := range units {
		if bytes%unit.bytes == 0 && bytes >= unit.bytes {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return "0"
}
