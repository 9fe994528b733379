// Package deploy_test tests the files in this folder with the programs they are
// written for.
package deploy_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// must runs a program and returns its output.
func must(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// TestUnitIsValid verifies the unit with systemd, including its security score.
// systemd silently ignores settings that it does not know.
func TestUnitIsValid(t *testing.T) {
	t.Parallel()
	analyze := tooltest.Debian(t, "systemd-analyze", "systemd")
	unit := strings.Replace(read(t, "systemd/landfall.service"), "/usr/local/bin/landfall", tooltest.Landfall(t), 1)
	unit = strings.Replace(unit, "Documentation=man:landfall(1)\n", "", 1) // not installed here
	file := filepath.Join(t.TempDir(), "landfall.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := strings.TrimSpace(must(t, analyze, "verify", file)); said != "" {
		t.Errorf("systemd says: %s", said)
	}
	// The score is from 0 to 100. Most units are at 96.
	must(t, analyze, "security", "--offline=true", "--threshold=20", file)
}

// A release image must name its base image by a digest. The test runs the check of the build.
func TestReleaseImageNeedsDigest(t *testing.T) {
	t.Parallel()
	text := read(t, "container/Containerfile")
	check := regexp.MustCompile(`(?m)^RUN (case .*)$`).FindStringSubmatch(text)
	if check == nil || !strings.Contains(text, "\nFROM ${BASE} AS build\nARG BASE RELEASE=false\n") {
		t.Fatal("the build does not check its base image")
	}
	for _, try := range []struct {
		release, base string
		accepted      bool
	}{{"false", "golang:1.26", true}, {"true", "golang:1.26", false}, {"true", "golang:1.26@sha256:" + strings.Repeat("0", 64), true}} {
		command := exec.CommandContext(t.Context(), "sh", "-c", check[1])
		command.Env = []string{"RELEASE=" + try.release, "BASE=" + try.base}
		if err := command.Run(); (err == nil) != try.accepted {
			t.Errorf("RELEASE=%s BASE=%s: %v", try.release, try.base, err)
		}
	}
}

// The service can write to every place under /var that the documentation names.
func TestDocumentedPathsAreWritable(t *testing.T) {
	t.Parallel()
	unit := read(t, "systemd/landfall.service")
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		for _, path := range regexp.MustCompile(`/var/(lib|log)/([a-z]+)`).FindAllStringSubmatch(read(t, page), -1) {
			setting := map[string]string{"lib": "StateDirectory", "log": "LogsDirectory"}[path[1]]
			found++
			if path[2] == "landfall" && !strings.Contains(unit, "\n"+setting+"="+path[2]+"\n") {
				t.Errorf("%s names %s, where the service cannot write", page, path[0])
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d paths were found", found)
	}
}

// systemd is notified when the service is ready, is alive and stops.
func TestServiceNotifiesSystemd(t *testing.T) {
	t.Parallel()
	wait, process := underSystemd(t)
	wait("EXTEND_TIMEOUT_USEC=30000000")
	wait("READY=1")
	wait("WATCHDOG=1")
	process.Signal(os.Interrupt)
	wait("STOPPING=1")
}

// A start that waits for its database asks systemd for more time, again and again.
func TestLongStartAsksSystemdForTime(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	wait, _ := underSystemd(t, "--database", "postgres://landfall@127.0.0.1:1/landfall", "--database-wait", "1m")
	for range 3 {
		wait("EXTEND_TIMEOUT_USEC=30000000")
	}
}

// underSystemd starts the service with a socket like that of systemd. It returns a
// function that waits for what the service says on it.
func underSystemd(t *testing.T, flags ...string) (wait func(state string), process *os.Process) {
	t.Helper()
	folder, err := os.MkdirTemp("", "sd") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	serve := exec.Command(tooltest.Landfall(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--shutdown-delay", "0s",
		"--database", filepath.Join(folder, "landfall.db")}, flags...)...)
	serve.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(folder, "s"), "WATCHDOG_USEC=400000")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { serve.Process.Kill(); serve.Wait() })
	return func(state string) {
		t.Helper()
		_ = socket.SetReadDeadline(time.Now().Add(30 * time.Second))
		for buffer := make([]byte, 256); ; {
			n, err := socket.Read(buffer)
			if err != nil {
				t.Fatalf("%s was not said: %v", state, err)
			}
			if string(buffer[:n]) == state {
				return
			}
		}
	}, serve.Process
}

// metrics returns the names of the metrics, from the generated page.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(landfall_[a-z_]+)` \\| (\\w+)").FindAllStringSubmatch(read(t, "../docs/metrics.md"), -1) {
		known[row[1]] = true
		if row[2] == "histogram" {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				known[row[1]+part] = true
			}
		}
	}
	return known
}

func unknownMetrics(t *testing.T, file, text string) {
	t.Helper()
	known := metrics(t)
	for _, name := range regexp.MustCompile(`landfall_[a-z_]+`).FindAllString(text, -1) {
		if !known[name] {
			t.Errorf("%s names %s, which the program does not have", file, name)
		}
	}
}

// TestAlertsAreValid checks the alerts with promtool and requires a runbook for
// each. An alert on a renamed metric would never fire.
func TestAlertsAreValid(t *testing.T) {
	t.Parallel()
	promtool := tooltest.Debian(t, "promtool", "prometheus")
	must(t, promtool, "check", "rules", "prometheus/alerts.yml")
	must(t, promtool, "test", "rules", "prometheus/alerts_test.yml", "prometheus/alerts_days_test.yml")
	rules, page := read(t, "prometheus/alerts.yml"), read(t, "../docs/alarms.md")
	unknownMetrics(t, "alerts.yml", strings.ReplaceAll(rules, "landfall_docs", "")) // a label of Prometheus
	tests := read(t, "prometheus/alerts_test.yml") + read(t, "prometheus/alerts_days_test.yml")
	names := regexp.MustCompile(`(?m)alert: (\w+)$`).FindAllStringSubmatch(rules, -1)
	if len(names) < 10 {
		t.Fatalf("%d alerts were found", len(names))
	}
	for _, name := range names {
		if !strings.Contains(page, "\n## "+name[1]+"\n") {
			t.Errorf("docs/alarms.md does not say what to do about %s", name[1])
		}
		if !strings.Contains(tests, "alertname: "+name[1]+"\n        exp_alerts:\n          - ") {
			t.Errorf("no test makes %s fire", name[1])
		}
	}
}

// Prometheus can parse every expression of the dashboard, and every metric in
// it exists.
func TestDashboardIsValid(t *testing.T) {
	t.Parallel()
	promtool := tooltest.Debian(t, "promtool", "prometheus")
	text := read(t, "grafana/landfall.json")
	unknownMetrics(t, "landfall.json", strings.ReplaceAll(text, `"name": "landfall`, ""))
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(text), &board); err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	count := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			count++
			quoted, _ := json.Marshal(strings.ReplaceAll(target.Expr, "$supplier", ".*"))
			rules.WriteString("  - record: panel:" + strings.Repeat("x", count) + "\n    expr: " + string(quoted) + "\n")
		}
	}
	if count < 20 {
		t.Fatalf("%d expressions were found", count)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, promtool, "check", "rules", file)
}

// TestExampleSettingsAreValid checks the example settings that operators copy.
func TestExampleSettingsAreValid(t *testing.T) {
	t.Parallel()
	text := strings.Replace(read(t, "landfall.yaml"), "/etc/landfall/db-ca.pem", tooltest.NewAuthority(t).File, 1)
	file := filepath.Join(t.TempDir(), "landfall.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, tooltest.Landfall(t), "config", "check", "--config", file)
}

// The container is built with the Go version of go.mod and does not run as
// root.
func TestContainerFile(t *testing.T) {
	t.Parallel()
	text := read(t, "container/Containerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))[1]
	for _, line := range []string{"golang:" + version + "\nFROM ${BASE} AS build", "FROM scratch", "USER 65532:65532", "CGO_ENABLED=0"} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no %q", line)
		}
	}
}

// A core dump of the service would contain its keys and personal data.
func TestACoreDumpWouldHoldTheKeys(t *testing.T) {
	t.Parallel()
	if !strings.Contains(read(t, "systemd/landfall.service"), "\nLimitCORE=0\n") {
		t.Error("the unit allows core dumps")
	}
}
