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

// shells are the ones people paste into, as interactive as they get without a
// terminal: history marks and comments mean there what they mean to a person.
var shells = map[string][]string{
	"bash": {"--norc", "--noprofile", "--noediting", "-i", "-s"},
	"zsh":  {"-f", "+o", "promptsp", "-i", "-s"},
}

// tourStep is one block of commands of the README and the output shown below it.
type tourStep struct{ commands, output string }

var tourBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?")

// What the README tells people to type works in bash and in zsh, in the order
// it is told, and gives the output that is shown. With UPDATE_README=1 the
// outputs that differ are written anew.
func TestReadmeTour(t *testing.T) {
	for name, options := range shells {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(readme)
			if err != nil {
				t.Fatal(err)
			}
			steps := parseTour(string(text))
			if len(steps) < 10 {
				t.Fatalf("the README has a tour of %d steps", len(steps))
			}
			for i, got := range runTour(t, name, options, steps) {
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
		})
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

// runTour pastes every step into one shell and gives what each printed.
func runTour(t *testing.T, name string, options []string, steps []tourStep) []string {
	t.Helper()
	tooltest.Debian(t, "curl")
	tooltest.Debian(t, "python3")
	// A server that does not start would be waited for without end.
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

// shellNotices are what interactive shells say about their own jobs and their end.
var shellNotices = regexp.MustCompile(`(?m)^(\[1\].*|exit)\n`)

// buildWorkspace makes a folder as a fresh clone has it after make build. The test
// binary is the program when it is called by its name.
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

// changingText is what differs from run to run.
var changingText = regexp.MustCompile(`A-[0-9A-Z]{8}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[Kk]ey [0-9a-z]{10}\b|request [0-9a-z]{16}|import-[\d.-]+`)

// normalizeOutput leaves of an output what has to be the same every time. How wide a
// column is depends on what is in it.
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
