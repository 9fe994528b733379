package landfall_test

import (
	"regexp"
	"strings"
	"testing"
)

// An exception of .golangci.yml for a file that was renamed excepts nothing, and
// may one day except another file of that name.
func TestLinterExceptionsMatchFiles(t *testing.T) {
	files := parseTree(t)
	found := 0
	for line := range strings.Lines(readRootFile(t, ".golangci.yml")) {
		_, pattern, is := strings.Cut(strings.TrimSpace(line), "- path: ")
		if !is {
			continue
		}
		found++
		// Every alternative must match, not just one of them.
		for _, alternative := range expandAlternatives(pattern) {
			expression, err := regexp.Compile(alternative)
			if err != nil {
				t.Fatal(err)
			}
			matches := false
			for _, file := range files {
				matches = matches || expression.MatchString(file.name)
			}
			if !matches {
				t.Errorf(".golangci.yml: %s matches no file", alternative)
			}
		}
	}
	if found == 0 {
		t.Error("no exceptions found: has .golangci.yml changed?")
	}
}

// expandAlternatives expands the first group of a pattern, such as (a|b)/c, and the
// alternatives outside groups.
func expandAlternatives(pattern string) []string {
	depth, start := 0, 0
	var outside []string
	for i, r := range pattern {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == '|' && depth == 0:
			outside = append(outside, pattern[start:i])
			start = i + 1
		}
	}
	var expanded []string
	for _, part := range append(outside, pattern[start:]) {
		before, rest, grouped := strings.Cut(part, "(")
		group, after, closed := strings.Cut(rest, ")")
		if !grouped || !closed {
			expanded = append(expanded, part)
			continue
		}
		for alternative := range strings.SplitSeq(group, "|") {
			expanded = append(expanded, before+alternative+after)
		}
	}
	return expanded
}

// make proofs runs the tests whose functions say that -short skips or shortens them. In a helper, that would
// not be found, and the test would run nowhere in full.
func TestLongTestsAreFound(t *testing.T) {
	short := regexp.MustCompile(`SkipIfShort\(t\)|testing\.Short\(\)`)
	found := 0
	for _, file := range parseTree(t) {
		if !strings.HasSuffix(file.name, "_test.go") {
			continue
		}
		function := ""
		for line := range strings.Lines(readRootFile(t, file.name)) {
			if name, is := strings.CutPrefix(line, "func "); is {
				function = name
			}
			if !short.MatchString(line) {
				continue
			}
			found++
			if !strings.HasPrefix(function, "Test") && !strings.HasPrefix(function, "Fuzz") {
				t.Errorf("%s: %s says it outside of a test", file.name, function)
			}
		}
	}
	if found == 0 {
		t.Error("no long tests found: has tooltest changed?")
	}
}
