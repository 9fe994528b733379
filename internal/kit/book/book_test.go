package book_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"landfall/internal/kit/book"
)

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesOfAFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"accounts-002.ndjson": "", "accounts-001.ndjson.gz": "", "transactions.jsonl": "", "payment-instructions.ndjson.zst": "",
		"control-totals.json": "{}", "acounts.ndjson": "", "accountsx.ndjson": "", "notes.txt": "", ".hidden.ndjson": "",
	})
	if err := os.Mkdir(filepath.Join(folder, "failed"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range found.Files {
		names = append(names, file.Kind.Stem+" "+filepath.Base(file.Path))
	}
	want := []string{
		"accounts accounts-001.ndjson.gz", "accounts accounts-002.ndjson", "transactions transactions.jsonl",
		"payment-instructions payment-instructions.ndjson.zst",
	}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	for i, path := range found.Others {
		found.Others[i] = filepath.Base(path)
	}
	if want := []string{"accountsx.ndjson", "acounts.ndjson", "notes.txt"}; !slices.Equal(found.Others, want) {
		t.Errorf("others %q, want %q", found.Others, want)
	}
	if found.Totals == "" {
		t.Error("the control totals were not found")
	}
}

func TestInvalidBooks(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{"accounts.ndjson": "{}\n", "accounts.ndjson.gz": "", "other.csv": ""})
	for name, paths := range map[string][]string{
		"no such file":         {filepath.Join(folder, "gone")},
		"unknown kind of file": {filepath.Join(folder, "other.csv")},
		"same file":            {folder},
		"leave one out":        {filepath.Join(folder, "accounts.ndjson"), filepath.Join(folder, "accounts.ndjson")},
		"no file of":           {t.TempDir()},
	} {
		if _, err := book.Open(paths...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLinesAreNumberedAsAnEditorDoes writes everything that may come between bodies, in every
// compression, and reads it back.
func TestLinesAreNumberedAsAnEditorDoes(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("\xef\xbb\xbf{\"a\":1}\r\n\n   \n{\"b\":2}\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, `{"number":%d,"padding":%q}`+"\n", i, strings.Repeat("x", i%300))
	}
	text.WriteString(`{"last":true}`)
	for _, ending := range []string{"", ".gz", ".zst"} {
		folder := t.TempDir()
		file, err := book.Create(folder, book.Accounts, ending)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(text.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		found, err := book.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[int]string{1: `{"a":1}`, 4: `{"b":2}`, 60_005: `{"last":true}`}
		count := 0
		for line, err := range found.Files[0].Lines() {
			if err != nil {
				t.Fatal(err)
			}
			count++
			if want, is := wanted[line.Number]; is && string(line.Text) != want {
				t.Errorf("%s line %d is %q, want %q", ending, line.Number, line.Text, want)
			}
			if number := fmt.Sprintf(`"number":%d,`, line.Number-5); line.Number > 4 && line.Number < 60_005 && !bytes.Contains(line.Text, []byte(number)) {
				t.Fatalf("%s line %d is %q", ending, line.Number, line.Text)
			}
		}
		if count != 60_003 {
			t.Errorf("%s: %d lines, want 60003", ending, count)
		}
	}
}

func TestEndlessLine(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"accounts.ndjson": "{}\n" + strings.Repeat("x", 30<<20) + "\n{\"after\":1}\n" + strings.Repeat("y", 12<<20),
	})
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for line, err := range found.Files[0].Lines() {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(line.Number, line.TooLong, len(line.Text)))
	}
	if want := []string{"1 false 2", "2 true 1024", "3 false 11", "4 true 1024"}; !slices.Equal(seen, want) {
		t.Errorf("lines %q, want %q", seen, want)
	}
}

func TestTruncatedCompressedFile(t *testing.T) {
	for _, ending := range []string{".gz", ".zst"} {
		folder := t.TempDir()
		file, err := book.Create(folder, book.Notes, ending)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(bytes.Repeat([]byte("{\"note\":\"a\"}\n"), 200_000)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "notes.ndjson"+ending)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := book.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = nil
		for _, failed := range found.Files[0].Lines() {
			err = failed
		}
		if err == nil || !strings.Contains(err.Error(), "after line") {
			t.Errorf("%s: %v", ending, err)
		}
	}
}

func TestWriterLeavesOnlyCompleteFiles(t *testing.T) {
	folder := t.TempDir()
	file, err := book.Create(folder, book.Accounts, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("{}\n{}\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "accounts.ndjson")); err == nil {
		t.Error("half a file has its name already")
	}
	if err := file.Close(); err != nil || file.Lines != 2 {
		t.Errorf("%v, %d lines", err, file.Lines)
	}
	if _, err := book.Create(folder, book.Accounts, ""); err == nil {
		t.Error("a file was about to be overwritten")
	}
	other, err := book.Create(folder, book.Notes, ".gz")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Abandon(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("%d files are left, want 1", len(entries))
	}
}

// TestAFileWasWrittenThroughALink puts a link where a file is written before it gets its name.
func TestAFileWasWrittenThroughALink(t *testing.T) {
	folder, target := t.TempDir(), filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(target, []byte("valuable\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(folder, "accounts.ndjson.part")); err != nil {
		t.Skip(err)
	}
	if err := book.WriteNamed(filepath.Join(folder, "accounts.ndjson"), []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(target); string(text) != "valuable\n" {
		t.Errorf("the file behind the link is now %q, %v", text, err)
	}
	if info, err := os.Lstat(filepath.Join(folder, "accounts.ndjson")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}
