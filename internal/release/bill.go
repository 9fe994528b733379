package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// component is an entry of a CycloneDX bill of materials.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

// hash is a checksum as CycloneDX spells it.
type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// modules returns the modules that programs were built from, each once, as
// recorded in the programs. They can differ between systems.
func modules(programs []string) (version string, all []*debug.Module, err error) {
	found := map[string]*debug.Module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return "", nil, err
		}
		// All programs are built by the same version of Go.
		version = strings.TrimPrefix(info.GoVersion, "go")
		for _, module := range info.Deps {
			// The program contains the replacement, so list that.
			if module.Replace != nil {
				module = module.Replace
			}
			found[module.Path] = module
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return version, all, nil
}

// describe returns a CycloneDX bill of materials of programs. It contains no time,
// and its serial number is derived from its content, so it is reproducible.
func describe(programs []string, version string) ([]byte, error) {
	platform, all, err := modules(programs)
	if err != nil {
		return nil, err
	}
	parts := []component{{Type: "platform", Ref: "go", Name: "go", Version: platform}}
	refs := []string{"go"}
	for _, module := range all {
		part := component{Type: "library", Name: module.Path, Version: module.Version, PURL: "pkg:golang/" + module.Path + "@" + module.Version}
		part.Ref = part.PURL
		// The h1 sum in go.sum is a SHA-256 of the list of the module's files.
		if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", module.Path, err)
			}
			part.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
		}
		parts, refs = append(parts, part), append(refs, part.Ref)
	}
	listed, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append(listed, version...))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80 // a name-based UUID
	own := "pkg:golang/landfall@" + version
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
		"metadata":     map[string]any{"component": component{Type: "application", Ref: own, Name: "landfall", Version: version, PURL: own}},
		"components":   parts,
		"dependencies": []map[string]any{{"ref": own, "dependsOn": refs}},
	}, "", "  ")
}

// licences returns the licences and notices of all modules in programs. They must
// be distributed with the programs.
func licences(programs []string) ([]byte, error) {
	_, all, err := modules(programs)
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "landfall\n\n%s\n", own)
	for _, module := range all {
		folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module.Path).Output() //nolint:gosec,noctx // modules of our own binary
		if err != nil {
			return nil, fmt.Errorf("%s: %w", module.Path, err)
		}
		found, err := legal(strings.TrimSpace(string(folder)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", module.Path, err)
		}
		fmt.Fprintf(&text, "%s\n%s %s\n\n%s\n", strings.Repeat("-", 78), module.Path, module.Version, found)
	}
	return text.Bytes(), nil
}

// legal returns the licence and notice texts of a module.
func legal(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		// Match the start of the name: such files can end in .txt or .md, or have a
		// second word.
		if entry.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"}, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		text.Write(append(content, '\n'))
	}
	// A module without a licence must not be distributed.
	if text.Len() == 0 {
		return nil, errors.New("no licence file found")
	}
	return text.Bytes(), nil
}
