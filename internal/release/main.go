// Command release builds a release: the program for every system, checksums, a bill
// of materials and licences. The same commit always produces the same bytes.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// allTargets lists the systems that a release is built for.
var allTargets = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

func main() {
	out := flag.String("out", "dist", "folder to build into")
	version := flag.String("version", "unknown", "version of the program")
	wanted := flag.String("targets", strings.Join(allTargets, ","), "systems to build for")
	flag.Parse()
	if err := release(*out, *version, strings.Split(*wanted, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release stops at the first error, so that an incomplete release is not mistaken
// for a complete one.
func release(out, version string, targets []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // a release is public
		return err
	}
	var files, programs []string
	for _, target := range targets {
		file, err := buildProgram(out, version, target)
		if err != nil {
			return err
		}
		files, programs = append(files, file), append(programs, filepath.Join(out, file))
	}
	bill, err := describe(programs, version)
	if err != nil {
		return err
	}
	texts, err := licences(programs)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"sbom.cdx.json": bill, "LICENCES.txt": texts} {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil { //nolint:gosec // likewise
			return err
		}
		files = append(files, name)
	}
	// The checksums come last because they cover all other files.
	return sums(out, files)
}

// buildProgram builds one program. It contains nothing that depends on the machine:
// no paths, no repository state, no build ID.
func buildProgram(out, version, target string) (string, error) {
	system, machine, ok := strings.Cut(target, "/")
	if !ok {
		return "", fmt.Errorf("%q is no system: want one such as linux/amd64", target)
	}
	file := "landfall-" + system + "-" + machine
	if system == "windows" {
		file += ".exe"
	}
	command := exec.Command("go", "build", "-pgo=cmd/landfall/landfall.pgo", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+version, //nolint:gosec,noctx // arguments of the person who releases
		"-o", filepath.Join(out, file), "./cmd/landfall")
	// The machine's own Go settings must not change the result.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", target, err, output)
	}
	return file, nil
}

// sums writes a file for sha256sum --check.
func sums(out string, files []string) error {
	// Sorted, so that the file is reproducible.
	slices.Sort(files)
	var list strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&list, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(list.String()), 0o644) //nolint:gosec // likewise
}
