#!/bin/sh
# Runs before a removal ("remove" on Debian, 0 with RPM) and before an upgrade, which keeps the
# service running.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now landfall.service
	fi
	;;
esac
