package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// installation is run in a copy of this system, which lives in memory and ends with it.
const installation = `set -eu
mount -t tmpfs landfall "$1"
mkdir "$1/changes" "$1/work" "$1/system"
mount -t overlay landfall -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/system"
cp "$2" "$1/system/landfall.deb"
chroot "$1/system" /bin/sh -eux <<'END'
dpkg --install /landfall.deb
dpkg --status landfall | grep -x 'Status: install ok installed'
landfall version
if command -v systemd-sysusers; then id landfall; fi
test "$(stat -c '%U %a' /etc/landfall/secrets.env)" = 'root 600'
su -s /bin/sh nobody -c 'LANDFALL_DATABASE=/tmp/package.db landfall schema apply'
echo '# ours' >>/etc/landfall/landfall.yaml
dpkg --install /landfall.deb
grep -x '# ours' /etc/landfall/landfall.yaml
dpkg --verify landfall || test $? -eq 1
dpkg --remove landfall
test ! -e /usr/bin/landfall
grep -x '# ours' /etc/landfall/landfall.yaml
dpkg --purge landfall
test ! -e /etc/landfall/landfall.yaml
END
`

// checkInstallation installs a Debian package with dpkg, uses it, installs it again over
// a changed setting, removes it and purges it.
func checkInstallation(t *testing.T, deb string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", installation, "sh", t.TempDir(), deb)
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	output, err := command.CombinedOutput()
	switch {
	case command.Process == nil || strings.Contains(string(output), "mount: "):
		t.Logf("the package was not installed, because nothing can be mounted here: %v\n%s", err, output)
	case err != nil:
		t.Errorf("%v\n%s", err, output)
	}
}
