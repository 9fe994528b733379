package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// packages builds a Debian and an RPM package with nfpm, as deploy/package/nfpm.yaml describes.
func (r *release) packages(program, machine string) error {
	unit, err := os.ReadFile("deploy/systemd/landfall.service")
	if err != nil {
		return err
	}
	// Packages install into /usr/bin.
	own := filepath.Join(r.work, "landfall.service")
	if err := os.WriteFile(own, []byte(strings.ReplaceAll(string(unit), "/usr/local/bin/", "/usr/bin/")), 0o644); err != nil { //nolint:gosec // for everybody
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		name := fmt.Sprintf("landfall_%s_%s.%s", r.version, machine, kind)
		command := exec.Command("go", "tool", "-modfile=tools/nfpm/go.mod", "nfpm", "package", //nolint:gosec,noctx // our own arguments
			"--config", "deploy/package/nfpm.yaml", "--packager", kind, "--target", filepath.Join(r.out, name))
		command.Env = append(os.Environ(), "VERSION="+r.version, "ARCH="+machine, "PROGRAM="+program, "WORK="+r.work, "OUT="+r.out,
			"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", kind, err, output)
		}
		r.files = append(r.files, name)
	}
	return nil
}
