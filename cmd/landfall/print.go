package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"landfall/internal/lib/calendar"
)

// jsonFlag is a flag of every command.
const jsonFlag = "json"

// printData prints data as JSON if asked to, and otherwise calls text. Failed writes are returned,
// so that a full disk does not look like success.
func printData(command *cobra.Command, data any, text func(io.Writer)) error {
	out := bufio.NewWriter(command.OutOrStdout())
	if jsonWanted(command) {
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(data); err != nil {
			return err
		}
		_, _ = out.WriteString(escapeJSON(encoded.String())) // Flush returns the error
	} else {
		text(out)
	}
	return out.Flush()
}

// printDone prints that something was done: a sentence, or data as JSON.
func printDone(command *cobra.Command, data any, format string, values ...any) error {
	return printData(command, data, func(out io.Writer) { fmt.Fprintln(out, escapeText(fmt.Sprintf(format, values...))) })
}

// printWarning prints a warning to standard error.
func printWarning(command *cobra.Command, sentence string) {
	if jsonWanted(command) {
		_ = json.NewEncoder(command.ErrOrStderr()).Encode(map[string]any{"warning": map[string]string{"detail": sentence}}) //nolint:errchkjson // nowhere to report it
		return
	}
	fmt.Fprintln(command.ErrOrStderr(), "landfall: warning: "+sentence)
}

// jsonWanted reports whether --json was given.
func jsonWanted(command *cobra.Command) bool {
	wanted, _ := command.Flags().GetBool(jsonFlag) // every command has it
	return wanted
}

// printLine prints a value as one line of JSON.
func printLine(out io.Writer, data any) error {
	line, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintln(out, escapeJSON(string(line)))
	}
	return err
}

// printFields prints names and values, one pair per line.
func printFields(out io.Writer, pairs ...string) {
	width := 0
	for i := 0; i < len(pairs); i += 2 {
		width = max(width, utf8.RuneCountInString(pairs[i]))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(out, "%-*s  %s\n", width, pairs[i], escapeText(pairs[i+1]))
	}
}

// escapeText escapes control characters and marks that reverse or hide text, which could mislead
// the user of a terminal. All data from elsewhere is printed through it.
func escapeText(text string) string {
	return escapeRunes(text, func(r rune) bool { return r == ' ' || unicode.IsPrint(r) }, func(r rune) string {
		quoted := strconv.QuoteRuneToASCII(r)
		return quoted[1 : len(quoted)-1]
	})
}

// escapeJSON escapes the same characters the JSON way, so that the value stays the same.
func escapeJSON(text string) string {
	return escapeRunes(text, func(r rune) bool { return r == ' ' || r == '\n' || unicode.IsPrint(r) }, func(r rune) string {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// escapeRunes returns text unchanged if nothing has to be escaped, which is almost always.
func escapeRunes(text string, printable func(rune) bool, write func(rune) string) string {
	text = strings.ToValidUTF8(text, "\ufffd") // some terminals treat stray bytes as control characters
	if strings.IndexFunc(text, func(r rune) bool { return !printable(r) }) < 0 {
		return text
	}
	var escaped strings.Builder
	for _, r := range text {
		if printable(r) {
			escaped.WriteRune(r)
			continue
		}
		escaped.WriteString(write(r))
	}
	return escaped.String()
}

// formatTime formats a time as the API does; the zero time is empty.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// timeOrNull formats a time for JSON; the zero time is null.
func timeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := formatTime(at)
	return &text
}

// yesNo formats a bool for people.
func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
