// Command release builds a release: an archive for every system, Debian and RPM packages,
// checksums, a bill of materials, licences and provenance. The same commit always produces
// the same bytes.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// allTargets lists the systems that a release is built for.
var allTargets = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

func main() {
	made := release{log: os.Stderr}
	flag.StringVar(&made.out, "out", "dist", "folder to build into")
	flag.StringVar(&made.commit, "commit", "unknown", "commit of the sources")
	wanted := flag.String("targets", strings.Join(allTargets, ","), "systems to build for")
	flag.Parse()
	if err := made.build(strings.Split(*wanted, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one release while it is built.
type release struct {
	out, commit string
	log         io.Writer
	version     string
	time        time.Time // of the commit; all files have it
	work        string    // folder for intermediate files
	files       []string  // names in out
}

// build stops at the first error, so that an incomplete release is not mistaken for a
// complete one.
func (r *release) build(targets []string) (err error) {
	if r.version, err = programVersion(); err != nil {
		return err
	}
	if r.time, err = commitTime(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // a release is public
		return err
	}
	if r.work, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	fmt.Fprintf(r.log, "landfall %s, commit %s, into %s\n", r.version, r.commit, r.out)

	var programs []string
	for _, target := range targets {
		if err := r.step("program for "+target, func() error {
			program, err := r.buildProgram(target)
			programs = append(programs, program)
			return err
		}); err != nil {
			return err
		}
	}
	if err := r.step("manual pages and completions", r.writeManual); err != nil {
		return err
	}
	if err := r.step("bill of materials and licences", func() error { return r.describe(programs) }); err != nil {
		return err
	}
	for i, target := range targets {
		system, machine, _ := strings.Cut(target, "/")
		if err := r.step("archive for "+target, func() error { return r.archive(programs[i], system, machine) }); err != nil {
			return err
		}
		if system != "linux" {
			continue
		}
		if err := r.step("packages for "+target, func() error { return r.packages(programs[i], machine) }); err != nil {
			return err
		}
	}
	if err := r.step("provenance", func() error { return r.provenance(targets) }); err != nil {
		return err
	}
	// The checksums come last because they cover all other files.
	return r.step("checksums", func() error {
		if err := r.sums(); err != nil {
			return err
		}
		return r.sign()
	})
}

// step runs a part and logs how long it took.
func (r *release) step(what string, work func() error) error {
	start := time.Now()
	if err := work(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Fprintf(r.log, "%7.1f s  %s\n", time.Since(start).Seconds(), what)
	return nil
}

func programVersion() (string, error) {
	source, err := os.ReadFile("cmd/landfall/version.go")
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^const version = "(\d+\.\d+\.\d+[-.0-9A-Za-z]*)"$`).FindSubmatch(source)
	if found == nil {
		return "", errors.New("cmd/landfall/version.go has no semantic version")
	}
	return string(found[1]), nil
}

// commitTime returns the time of the commit. Sources without a repository have a fixed time.
func commitTime() (time.Time, error) {
	text, err := exec.Command("git", "log", "-1", "--format=%ct").Output() //nolint:noctx // takes no time
	if err != nil {
		text = []byte("1767225600") // 2026-01-01
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// buildProgram builds one program. It contains nothing that depends on the machine:
// no paths, no repository state, no build ID.
func (r *release) buildProgram(target string) (string, error) {
	system, machine, ok := strings.Cut(target, "/")
	if !ok {
		return "", fmt.Errorf("%q is no system: want one such as linux/amd64", target)
	}
	file := filepath.Join(r.work, system+"-"+machine, "landfall")
	if system == "windows" {
		file += ".exe"
	}
	command := exec.Command("go", "build", "-pgo=cmd/landfall/landfall.pgo", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.commit="+r.commit, //nolint:gosec,noctx // arguments of the person who releases
		"-o", file, "./cmd/landfall")
	// The machine's own Go settings must not change the result.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	return file, nil
}

// writeManual writes the manual pages and completions with a program for this machine.
func (r *release) writeManual() error {
	program := filepath.Join(r.work, runtime.GOOS+"-"+runtime.GOARCH, "landfall")
	if _, err := os.Stat(program); err != nil {
		if program, err = r.buildProgram(runtime.GOOS + "/" + runtime.GOARCH); err != nil {
			return err
		}
	}
	return writeManual(program, r.work, r.time)
}

// writeManual fills the folders man and completions.
func writeManual(program, folder string, at time.Time) error {
	man := exec.Command(program, "man", filepath.Join(folder, "man")) //nolint:gosec,noctx // the program just built
	man.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(at.Unix(), 10))
	if output, err := man.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	completions := filepath.Join(folder, "completions")
	if err := os.MkdirAll(completions, 0o755); err != nil { //nolint:gosec // for everybody
		return err
	}
	for shell, file := range map[string]string{"bash": "landfall", "zsh": "_landfall", "fish": "landfall.fish"} {
		script, err := exec.Command(program, "completion", shell).Output() //nolint:gosec,noctx // likewise
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, file), script, 0o644); err != nil { //nolint:gosec // likewise
			return err
		}
	}
	return nil
}

// describe writes the bill of materials and the licences.
func (r *release) describe(programs []string) error {
	bill, err := describe(programs, r.version)
	if err != nil {
		return err
	}
	texts, err := licences(programs)
	if err != nil {
		return err
	}
	return errors.Join(r.add("sbom.cdx.json", bill), r.add("LICENCES.txt", texts))
}

func (r *release) add(name string, content []byte) error {
	r.files = append(r.files, name)
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // a release is public
}

// digest returns the SHA-256 of a file of the release.
func (r *release) digest(name string) (string, error) {
	file, err := os.Open(filepath.Join(r.out, name))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// sums writes a file for sha256sum --check.
func (r *release) sums() error {
	// Sorted, so that the file is reproducible.
	slices.Sort(r.files)
	var list strings.Builder
	for _, name := range r.files {
		sum, err := r.digest(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum, name)
	}
	return r.add("SHA256SUMS", []byte(list.String()))
}
