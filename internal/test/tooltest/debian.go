package tooltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Debian returns the path of a program of the distribution, such as zsh, sqlite3,
// pgbouncer or chromium. As root on a machine with apt-get, such as a build
// machine, it installs a missing program. Elsewhere the test is skipped, or fails
// when CI is true.
//
//	zsh := tooltest.Debian(t, "zsh")
//	dig := tooltest.Debian(t, "dig", "bind9-dnsutils") // the package has another name
func Debian(t testing.TB, program string, packages ...string) string {
	t.Helper()
	if len(packages) == 0 {
		packages = []string{program}
	}
	if path, ok := onPath(program); ok {
		return path
	}
	if err := Install(packages...); err != nil {
		missingf(t, "%s is missing: %v", program, err)
	}
	path, ok := onPath(program)
	if !ok {
		missingf(t, "%s was installed but has no program %s", strings.Join(packages, ", "), program)
	}
	return path
}

// DebianFile returns the path of a file of a Debian package, such as a library.
// Otherwise it is like Debian. The pattern is that of filepath.Glob.
func DebianFile(t testing.TB, pattern, pack string) string {
	t.Helper()
	for again := true; ; again = false {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
		if !again {
			missingf(t, "%s was installed but has no file %s", pack, pattern)
		}
		if err := Install(pack); err != nil {
			missingf(t, "%s is missing: %v", pattern, err)
		}
	}
}

// Install installs Debian packages. Test processes run in parallel, so a lock
// makes them install one after the other.
func Install(packages ...string) error {
	wanted := strings.Join(packages, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("install it: apt-get install %s", wanted)
	}
	unlock, err := lock("apt")
	if err != nil {
		return err
	}
	defer unlock()
	// An old package list names files that the mirror no longer has. Update it
	// only when the first attempt fails.
	if err = apt("install", packages...); err == nil {
		return nil
	}
	if err := apt("update"); err != nil {
		return err
	}
	return apt("install", packages...)
}

func apt(verb string, packages ...string) error {
	// Another program, such as unattended-upgrades, may hold the lock for minutes.
	arguments := []string{"-o", "DPkg::Lock::Timeout=300", verb, "-q", "-y"}
	if verb == "install" {
		arguments = append(arguments, "--no-install-recommends")
	}
	command := exec.Command("apt-get", append(arguments, packages...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s %s: %w: %s", verb, strings.Join(packages, " "), err, output)
	}
	return nil
}

// onPath also looks in /usr/sbin, where Debian installs servers and which is not
// on every user's PATH.
func onPath(program string) (string, bool) {
	if path, err := exec.LookPath(program); err == nil {
		return path, true
	}
	path, err := exec.LookPath(filepath.Join("/usr/sbin", program))
	return path, err == nil
}

// lock waits until no other test process holds the lock of that name. The lock
// ends with the process at the latest.
func lock(name string) (unlock func(), err error) {
	if err := os.MkdirAll(cacheDir(), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(cacheDir(), name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
