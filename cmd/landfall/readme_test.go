package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall/internal/test/tooltest"
)

const readme = "../../README.md"

// shells are interactive, so that history marks and comments work as for a user.
var shells = map[string][]string{
	"bash": {"--norc", "--noprofile", "--noediting", "-i", "-s"},
	"zsh":  {"-f", "+o", "promptsp", "-i", "-s"},
}

// tourStep is one block of commands of the README and its output.
type tourStep struct{ commands, output string }

var tourBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?")

// TestReadmeTour runs the commands of the README in bash and compares their output. With
// UPDATE_README=1 it updates the README.
func TestReadmeTour(t *testing.T) { testTour(t, "bash") }

func TestReadmeTourInZsh(t *testing.T) {
	tooltest.SkipIfShort(t)
	testTour(t, "zsh")
}

func testTour(t *testing.T, shell string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	steps := parseTour(string(text))
	if len(steps) < 10 {
		t.Fatalf("the README has a tour of %d steps", len(steps))
	}
	for i, got := range runTour(t, shell, shells[shell], steps) {
		if diff := cmp.Diff(normalizeOutput(steps[i].output), normalizeOutput(got)); diff != "" {
			t.Errorf("below\n%s(-shown +got):\n%s", steps[i].commands, diff)
			text = bytes.Replace(text, []byte(formatStep(steps[i])), []byte(formatStep(tourStep{steps[i].commands, got})), 1)
		}
	}
	if t.Failed() && os.Getenv("UPDATE_README") != "" {
		if err := os.WriteFile(readme, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func parseTour(text string) []tourStep {
	var steps []tourStep
	for _, found := range tourBlocks.FindAllStringSubmatch(text, -1) {
		steps = append(steps, tourStep{found[1], found[2]})
	}
	return steps
}

func formatStep(s tourStep) string {
	return "```sh\n" + s.commands + "```\n```text\n" + s.output + "```\n"
}

// runTour runs every step in one shell and returns the outputs.
func runTour(t *testing.T, name string, options []string, steps []tourStep) []string {
	t.Helper()
	tooltest.Debian(t, "curl")
	tooltest.Debian(t, "python3")
	// Otherwise a server that does not start would block the test.
	limited, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(limited, tooltest.Debian(t, name), options...)
	address := freeAddress(t)
	const mark = "=== the next step ==="
	script := "PS1= PS2=; exec 2>&1\n"
	for _, step := range steps {
		if strings.Contains(step.commands, "#") {
			t.Errorf("zsh takes no comments from a keyboard:\n%s", step.commands)
		}
		commands := strings.NewReplacer("make build\n", "", "http://127.0.0.1:8080", "http://"+address).Replace(step.commands)
		script += "echo; echo '" + mark + "'\n" + commands
	}
	shell.Stdin = strings.NewReader(script)
	shell.Dir = buildWorkspace(t)
	shell.Env = append(os.Environ(), "LANDFALL_LISTEN="+address, "HISTFILE=", "TERM=dumb")
	output, err := shell.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	parts := strings.Split(strings.ReplaceAll(string(output), address, "127.0.0.1:8080"), "\n"+mark+"\n")
	if len(parts) != len(steps)+1 {
		t.Fatalf("%d steps printed %d parts:\n%s", len(steps), len(parts), output)
	}
	for i, part := range parts {
		parts[i] = shellNotices.ReplaceAllString(part, "")
	}
	return parts[1:]
}

// shellNotices are messages of interactive shells.
var shellNotices = regexp.MustCompile(`(?m)^(\[1\].*|exit)\n`)

// buildWorkspace creates a folder like a fresh clone after make build. The test binary is the
// program if it has its name.
func buildWorkspace(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(folder, "bin"), 0o755),
		os.Symlink(program, filepath.Join(folder, "bin", "landfall")),
		os.Symlink(docs, filepath.Join(folder, "docs")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// changingText is what differs between runs.
var changingText = regexp.MustCompile(`A-[0-9A-Z]{8}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[Kk]ey [0-9a-z]{10}\b|request [0-9a-z]{16}|import-[\d.-]+`)

// normalizeOutput keeps what must be the same in every run. Column widths depend on the content.
func normalizeOutput(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		lines = append(lines, strings.Join(strings.Fields(changingText.ReplaceAllString(line, "…")), " "))
	}
	return lines
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr())
}
