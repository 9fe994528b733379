package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"landfall/internal/api/contract"
	"landfall/internal/kit/importer"
)

// A book with accounts that share a supply point or a payment instruction: without a server all of
// them are found and are among the lines to fix, and a server refuses as many as were made.
func TestSharedIdentifiersAreFoundOfflineAndOnline(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		m := newImportTestOn(t, fresh(t), nil, "--accounts", "1")
		m.book = filepath.Join(t.TempDir(), "shared")
		var out bytes.Buffer
		if code := runMain([]string{"generate", m.book, "--supplier", "NORTH", "--accounts", "300", "--vendor", "SANDBOX", "--pack", "gb-energy@1",
			"--fault", "shared-point=6%", "--fault", "shared-mandate=6%", "--json"}, &out, &out); code != exitDone {
			t.Fatal(out.String())
		}
		var made struct{ Faults map[string]int }
		if err := json.Unmarshal(out.Bytes(), &made); err != nil || made.Faults["shared-point"] == 0 || made.Faults["shared-mandate"] == 0 {
			t.Fatalf("%v: %s", err, out.String())
		}
		rules := []string{"--rule", contract.CodeSupplyPointElsewhere + "=error", "--rule", contract.CodeInstructionElsewhere + "=error"}
		report := filepath.Join(t.TempDir(), "report")
		out.Reset()
		if code := runMain(append([]string{"validate", m.book, "--pack", "gb-energy@1", "--report", report}, rules...), &out, &out); code != exitRefused {
			t.Fatalf("exit %d: %s", code, out.String())
		}
		// Each shared identifier is on the account that got it and on an earlier one, which may share it with several.
		for stem, kind := range map[string]string{"accounts": "shared-point", "payment-instructions": "shared-mandate"} {
			if failed := countLines(t, filepath.Join(report, "failed", stem+".ndjson")); failed <= made.Faults[kind] || failed > 2*made.Faults[kind] {
				t.Errorf("%d %s are among the failed lines, %d were made", failed, stem, made.Faults[kind])
			}
		}

		m.command(t, "vendor", "set", "SANDBOX", "--adapter", "sandbox")
		m.command(t, append([]string{"supplier", "set", "NORTH", "--pack", "gb-energy@1"}, rules...)...)
		tallies := m.finish(t)
		if failed := tallies[importer.Phases()[0]].Failed; failed != made.Faults["shared-point"] {
			t.Errorf("the server refused %d accounts, %d were made", failed, made.Faults["shared-point"])
		}
		for phase, tally := range tallies {
			if phase == "payment-instructions" && (tally.Failed == 0 || tally.Failed > made.Faults["shared-mandate"]) {
				t.Errorf("the server refused %d payment instructions, %d were made", tally.Failed, made.Faults["shared-mandate"])
			}
		}
	})
}

func countLines(t *testing.T, path string) (count int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		count++
	}
	return count
}
