package main

import (
	"os"
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
				if part = strings.TrimSpace(part); strings.HasPrefix(part, "landfall ") {
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
