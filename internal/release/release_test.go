package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The bill of materials is read from the program and is the same each time.
func TestBillOfMaterialsListsModules(t *testing.T) {
	program := filepath.Join(t.TempDir(), "engine")
	// Any program with dependencies will do. Test binaries have no module data.
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../test/pgtest/cluster")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var last string
	for range 2 {
		text, err := describe([]string{program}, "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		if last != "" && last != string(text) {
			t.Error("two bills of the same program differ")
		}
		last = string(text)
	}
	var bill struct {
		BOMFormat, SpecVersion, SerialNumber string
		Components                           []component
	}
	if err := json.Unmarshal([]byte(last), &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(bill.SerialNumber) {
		t.Errorf("got %s %s", bill.BOMFormat, bill.SerialNumber)
	}
	found := false
	for _, part := range bill.Components {
		if part.Name == "github.com/jackc/pgx/v5" {
			found = len(part.Hashes) == 1 && len(part.Hashes[0].Content) == 64 && part.PURL == "pkg:golang/"+part.Name+"@"+part.Version
		}
	}
	if !found {
		t.Errorf("pgx is not described: %s", last)
	}
}

func TestLicencesArePassedOn(t *testing.T) {
	folder := t.TempDir()
	if _, err := legal(folder); err == nil {
		t.Error("a module without a licence is accepted")
	}
	for name, text := range map[string]string{"LICENSE.md": "be kind", "NOTICE": "by us", "main.go": "package main"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := legal(folder)
	if err != nil || !strings.Contains(string(text), "be kind") || !strings.Contains(string(text), "by us") || strings.Contains(string(text), "package") {
		t.Errorf("got %q, %v", text, err)
	}
}
