package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	fences = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```")
	spans  = regexp.MustCompile("`(landfall [^`]+)`")
	// Words of a shell: quoted, or up to a space.
	shellWords = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	// Where a command ends and shell syntax begins.
	shellEnds = regexp.MustCompile(`\s(#|\||>|<|&&|&|;|2>)|;|\)|…|\s{3,}[a-z]`)
)

// handbookCommands returns the commands in the code blocks and sentences of a page.
func handbookCommands(page string) (lines []string) {
	for _, block := range fences.FindAllStringSubmatch(page, -1) {
		joined := strings.ReplaceAll(block[1], "\\\n", " ")
		for line := range strings.Lines(joined) {
			for _, part := range regexp.MustCompile(`&&|\|\|?|;|\$\(`).Split(line, -1) {
				if part = strings.TrimPrefix(strings.TrimSpace(part), "$ "); strings.HasPrefix(part, "landfall ") {
					lines = append(lines, part)
				}
			}
		}
	}
	for _, span := range spans.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		lines = append(lines, strings.ReplaceAll(span[1], "\n", " "))
	}
	return lines
}

// checkCommandLine returns what is wrong with a command in the documentation: an unknown command or
// flag. Placeholders such as NAME are ignored.
func checkCommandLine(root *cobra.Command, line string) string {
	if end := shellEnds.FindStringIndex(line); end != nil {
		line = line[:end[0]]
	}
	words := shellWords.FindAllString(line, -1)[1:]
	command, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if command.HasSubCommands() && !strings.Contains(command.Use, " ") && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		// audit list/export/verify names several commands, and … all of them.
		for name := range strings.SplitSeq(rest[0], "/") {
			if !hasFlag(command, name) {
				return "there is no " + command.CommandPath() + " " + name
			}
		}
	}
	for _, word := range rest {
		name, is := strings.CutPrefix(word, "--")
		if name, _, _ = strings.Cut(name, "="); !is || name == "" || name == "help" || name == "version" {
			continue
		}
		command.InheritedFlags() // brings those of the commands above it
		if command.Flags().Lookup(strings.TrimRight(name, ".,:/")) == nil && command.Root().PersistentFlags().Lookup(name) == nil {
			return command.CommandPath() + " has no flag --" + name
		}
	}
	return ""
}

func hasFlag(command *cobra.Command, name string) bool {
	for _, one := range command.Commands() {
		if one.Name() == name || one.HasAlias(name) {
			return true
		}
	}
	return strings.ToUpper(name) == name // stands for one
}

// TestEveryCommandOfTheHandbookExists checks all pages for renamed commands and removed flags.
func TestEveryCommandOfTheHandbookExists(t *testing.T) {
	t.Parallel()
	root := newRoot(nil)
	root.InitDefaultCompletionCmd()
	for _, wrong := range []string{"landfall nothing", "landfall audit nothing", "landfall account erase NORTH 1 --forever", "landfall key list/forget"} {
		if checkCommandLine(root, wrong) == "" {
			t.Errorf("this test takes %q for a command", wrong)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	adrs, err := filepath.Glob("../../docs/adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range append(append(pages, adrs...), readme, "../../CONTRIBUTING.md", "../../SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range handbookCommands(string(text)) {
			count++
			if wrong := checkCommandLine(root, line); wrong != "" {
				t.Errorf("%s: %s: %s", filepath.Base(page), line, wrong)
			}
		}
	}
	if count < 150 {
		t.Errorf("only %d commands were found", count)
	}
}

// Parts of the output that differ from run to run.
var changing = regexp.MustCompile(`lf_\w+|\b[0-9a-z]{10}\b|\d{4}-\d{2}-\d{2}T[\d:]+Z`)

// TestHandbookShowsTrueOutput runs the commands of two tasks of the handbook, in order, and compares what they print
// with the page.
func TestHandbookShowsTrueOutput(t *testing.T) {
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tasks, _ := strings.Cut(string(page), "## Let a team send accounts")
	tasks, _, _ = strings.Cut(tasks, "## Take a run back")
	database := fileDatabase(t)
	run := func(line string) string {
		command := exec.Command("sh", "-c", line) // a line of our own page
		command.Env = append(os.Environ(), "LANDFALL_DATABASE="+database)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	run("landfall schema apply")
	key, count := "", 0
	for _, block := range fences.FindAllStringSubmatch(tasks, -1) {
		for _, part := range strings.Split(block[1], "$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			if _, shown, is := strings.Cut(line, "key revoke "); is {
				line = strings.Replace(line, shown, key, 1)
			}
			got := run(line)
			if _, made, is := strings.Cut(got, "Created API key "); is {
				key, _, _ = strings.Cut(made, " ")
			}
			if got, want = normalOutput(got), normalOutput(want); got != want {
				t.Errorf("%s prints\n%s\nthe page says\n%s", line, got, want)
			}
			count++
		}
	}
	if count < 7 {
		t.Errorf("only %d commands were run", count)
	}
}

// normalOutput removes indentation, trailing spaces and what changes.
func normalOutput(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, changing.ReplaceAllString(line, "…"))
		}
	}
	return strings.Join(lines, "\n")
}
