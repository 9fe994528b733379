package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"landfall/internal/calendar"
)

const jsonFlag = "json"

// listing adds the flag every listing has.
func listing(command *cobra.Command) *cobra.Command {
	command.Flags().Bool(jsonFlag, false, "print JSON for machines")
	return command
}

// show prints data as JSON when asked to, and else as people read it.
func show(command *cobra.Command, data any, people func(io.Writer)) error {
	out := command.OutOrStdout()
	if asked, _ := command.Flags().GetBool(jsonFlag); asked {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(data)
	}
	people(out)
	return nil
}

// table prints rows under a heading; an empty one says so in the heading alone.
func table(out io.Writer, heading []string, rows [][]string) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		for i, cell := range row {
			row[i] = clean(cell)
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush()
}

// facts prints names and values by turns, one pair a line.
func facts(out io.Writer, pairs ...string) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	name := ""
	for i, text := range pairs {
		if i%2 == 0 {
			name = text
			continue
		}
		fmt.Fprintf(columns, "%s\t%s\n", name, clean(text))
	}
	_ = columns.Flush()
}

// clean escapes what could play tricks with a terminal: control characters and
// marks that reverse or hide text. Data from elsewhere is printed through it.
func clean(text string) string {
	harmless := func(r rune) bool { return r == ' ' || unicode.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var cleaned strings.Builder
	for _, r := range text {
		if harmless(r) {
			cleaned.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		cleaned.WriteString(quoted[1 : len(quoted)-1])
	}
	return cleaned.String()
}

// instant writes a time as the API does, and nothing for no time.
func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// nullable is an instant for JSON: absent times are null.
func nullable(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	written := instant(at)
	return &written
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
