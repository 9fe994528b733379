package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the README tells people to type works, in the order it is told.
func TestReadmeTour(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the tour uses curl: install it, the tour is part of the pipeline")
		}
		t.Skip("the tour uses curl")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tour, ok := strings.Cut(string(text), "## Five minutes")
	if !ok {
		t.Fatal("the README has no tour")
	}
	address := freeAddress(t)
	script := strings.NewReplacer(
		"make build\n", "", "bin/landfall serve &", "bin/landfall serve --listen "+address+" 2>log & server=$!\n"+
			"trap 'kill $server; wait $server' EXIT\n"+
			"until curl -sf http://"+address+"/readyz >ready; do sleep 0.05; done",
		"http://127.0.0.1:8080", "http://"+address, "curl -sS", "curl -sS -w ' [%{http_code}]\\n'",
	).Replace(blocks(tour))
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the program when it is called by its name.
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(folder, "bin", "landfall")); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sh", "-e", "-c", script)
	shell.Dir = folder
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{
		`"landline":"020 7946 0018"}]} [200]`,
		`"attr":"customers.0.shoe_size"}]} [400]`,
		`{"import_supplier":"NORTH","external_account_number":"1001"} [201]`,
		`{"status":"UNKNOWN","platform_account_number":""} [200]`,
		`[{"external_account_number":"1001","platform_account_number":null,"account_created_at":null}] [200]`,
		"state            staged",
		`"code":"dry_run_rolled_back","errors":[]} [400]`,
		`","external_account_number":"1001"} [201]`,
		`{"status":"COMPLETED","platform_account_number":"A-`,
		`"status":"NOTE_CREATION_SUCCESS","is_pinned":true}] [201]`,
		`"original_transaction_date":"2024-04-15"}}]} [201]`,
		`"statement_id":"S-1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-03-31"}]} [201]`,
		`"reference":"card-1001"} [201]`,
		"state            imported",
		"balance          50.00 GBP, in the customer's favour",
	} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the tour does not show %s\n%s", want, output)
		}
	}
}

// blocks joins the code blocks of a page.
func blocks(page string) string {
	var joined strings.Builder
	for _, block := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(page, -1) {
		joined.WriteString(block[1])
	}
	return joined.String()
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
