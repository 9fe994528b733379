package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"landfall/internal/lib/calendar"
)

// jsonFlag is a flag of every command, so that a script need not know which.
const jsonFlag = "json"

// printData prints data as JSON when asked to, and else as people read it. Output
// that could not be written is an error: a full disk must not look like success.
func printData(command *cobra.Command, data any, people func(io.Writer)) error {
	// Gathered and flushed at the end, where an error of any write before shows.
	out := bufio.NewWriter(command.OutOrStdout())
	if jsonWanted(command) {
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(data); err != nil {
			return err
		}
		_, _ = out.WriteString(escapeJSON(encoded.String())) // Flush repeats the error
	} else {
		people(out)
	}
	return out.Flush()
}

// printDone prints that something was done: a sentence, or data for machines.
func printDone(command *cobra.Command, data any, sentence string, args ...any) error {
	return printData(command, data, func(out io.Writer) { fmt.Fprintln(out, escapeText(fmt.Sprintf(sentence, args...))) })
}

// printWarning says on standard error what is worth knowing and stops nothing.
func printWarning(command *cobra.Command, sentence string) {
	if jsonWanted(command) {
		_ = json.NewEncoder(command.ErrOrStderr()).Encode(map[string]any{"warning": map[string]string{"detail": sentence}}) //nolint:errchkjson // there is nowhere left to complain
		return
	}
	fmt.Fprintln(command.ErrOrStderr(), "landfall: warning: "+sentence)
}

// jsonWanted reports whether a machine is reading.
func jsonWanted(command *cobra.Command) bool {
	// The flag belongs to every command, so that reading it cannot fail.
	asked, _ := command.Flags().GetBool(jsonFlag)
	return asked
}

// printTable prints rows under a heading; an empty one says so in the heading alone.
func printTable(out io.Writer, heading []string, rows [][]string) {
	// Blanks and no tabs: what is copied from a terminal looks the same elsewhere.
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		for i, cell := range row {
			row[i] = escapeText(cell)
			// An empty cell would let the next one slip under the wrong heading
			// for whoever splits at blanks.
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush()
}

// printFields prints names and values by turns, one pair a line.
func printFields(out io.Writer, pairs ...string) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	name := ""
	for i, text := range pairs {
		if i%2 == 0 {
			name = text
			continue
		}
		fmt.Fprintf(columns, "%s\t%s\n", name, escapeText(text))
	}
	_ = columns.Flush()
}

// escapeText escapes what could play tricks with a terminal: control characters and
// marks that reverse or hide text. Data from elsewhere is printed through it.
func escapeText(text string) string {
	return escapeRunes(text, func(r rune) bool { return r == ' ' || unicode.IsPrint(r) }, func(r rune) string {
		quoted := strconv.QuoteRuneToASCII(r)
		return quoted[1 : len(quoted)-1]
	})
}

// escapeJSON does the same for JSON, in JSON's own way: whoever reads it gets
// the same text, and whoever only looks at it is safe.
func escapeJSON(text string) string {
	return escapeRunes(text, func(r rune) bool { return r == ' ' || r == '\n' || unicode.IsPrint(r) }, func(r rune) string {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// escapeRunes leaves texts without tricks, which is nearly all of them, untouched.
func escapeRunes(text string, harmless func(rune) bool, write func(rune) string) string {
	text = strings.ToValidUTF8(text, "\ufffd") // stray bytes are control characters to some terminals
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var escaped strings.Builder
	for _, r := range text {
		if harmless(r) {
			escaped.WriteRune(r)
			continue
		}
		escaped.WriteString(write(r))
	}
	return escaped.String()
}

// formatTime writes a time as the API does, and nothing for no time.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// timeOrNull is an instant for JSON: absent times are null.
func timeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	written := formatTime(at)
	return &written
}

// yesNo writes what is true or not for people.
func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
