package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
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

// TestReleaseFiles builds every kind of file from a real program and reads each with the tool
// that people use.
func TestReleaseFiles(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Chdir("../..")
	program := tooltest.Landfall(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		t.Fatal(err)
	}
	version, err := programVersion()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil || !strings.Contains(string(changes), "\n## "+version) {
		t.Errorf("CHANGELOG.md does not describe %s: %v", version, err)
	}
	var last []byte
	var made release
	for range 2 { // both times the same bytes
		var said bytes.Buffer
		made = release{out: t.TempDir(), work: t.TempDir(), commit: "0123456789ab", version: version, time: time.Unix(1_767_225_600, 0), log: &said}
		for _, err := range []error{
			writeManual(program, made.work, made.time), made.add("LICENCES.txt", []byte("texts")), made.archive(program, "linux", "amd64"),
			made.archive(program, "windows", "amd64"), made.packages(program, "amd64"), made.provenance([]string{"linux/amd64"}), made.sums(), made.sign(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(said.String(), "UNSIGNED") {
			t.Error("nobody says that the release is not signed")
		}
		sums, err := os.ReadFile(filepath.Join(made.out, "SHA256SUMS"))
		if err != nil || last != nil && !bytes.Equal(sums, last) {
			t.Errorf("two builds differ: %v\n%s\n%s", err, last, sums)
		}
		last = sums
	}
	t.Setenv(signingKey, key)
	if err := made.sign(); err != nil {
		t.Fatal(err)
	}
	signature, err := os.ReadFile(filepath.Join(made.out, "SHA256SUMS.sig"))
	if err != nil || !ed25519.Verify(public, last, signature) {
		t.Errorf("the signature is wrong: %v", err)
	}
	for line := range strings.Lines(string(last)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		statement, err := os.ReadFile(filepath.Join(made.out, "provenance.intoto.json"))
		if err != nil || name != "provenance.intoto.json" && !strings.Contains(string(statement), sum) {
			t.Errorf("the provenance does not contain %s: %v", name, err)
		}
	}
	run := func(name string, arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, arguments...)
		command.Dir = made.out
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		}
		return string(output)
	}
	run("sha256sum", "--check", "SHA256SUMS")

	listed := strings.Join(tarNames(t, filepath.Join(made.out, "landfall_"+version+"_linux_amd64.tar.gz")), "\n")
	for _, want := range []string{"/landfall\n", "/deploy/systemd/landfall.service", "/man/landfall.1", "/completions/_landfall", "/LICENCES.txt"} {
		if !strings.Contains(listed, "landfall_"+version+"_linux_amd64"+want) {
			t.Errorf("the archive lacks %q:\n%s", want, listed)
		}
	}
	wanted := []string{"/usr/bin/landfall", "/usr/lib/systemd/system/landfall.service", "/usr/lib/sysusers.d/landfall.conf", "/etc/landfall/landfall.yaml", "/etc/landfall/secrets.env",
		"/usr/share/man/man1/landfall.1", "/usr/share/bash-completion/completions/landfall", "/usr/share/doc/landfall/LICENCES.txt"}
	deb, folder := "landfall_"+version+"_amd64.deb", t.TempDir()
	run("dpkg-deb", "--raw-extract", deb, folder)
	for _, file := range wanted {
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			t.Error(err)
		}
	}
	if said := run(filepath.Join(folder, "usr/bin/landfall"), "version"); !strings.HasPrefix(said, "landfall "+version+" (commit ") {
		t.Errorf("the installed program says %q", said)
	}
	for file, want := range map[string]string{
		"DEBIAN/conffiles": "/etc/landfall/secrets.env", "DEBIAN/control": "Version: " + version, "DEBIAN/postinst": "systemd-sysusers landfall.conf",
		"usr/lib/systemd/system/landfall.service": "ExecStart=/usr/bin/landfall serve",
	} {
		if text, err := os.ReadFile(filepath.Join(folder, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", file, want, err)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "etc/landfall/secrets.env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the secrets: %v", err)
	}
	checkInstallation(t, filepath.Join(made.out, deb))
	rpm := tooltest.Debian(t, "rpm", "rpm")
	listed = run(rpm, "-qpl", "landfall_"+version+"_amd64.rpm")
	for _, file := range wanted {
		if !strings.Contains(listed, file+"\n") {
			t.Errorf("the RPM package lacks %s", file)
		}
	}
	if configs := run(rpm, "-qpc", "landfall_"+version+"_amd64.rpm"); !strings.Contains(configs, "/etc/landfall/landfall.yaml\n") {
		t.Errorf("the config file is not marked: %s", configs)
	}
}

func tarNames(t *testing.T, file string) (names []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}
