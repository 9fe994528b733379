#!/bin/sh
# Runs after an installation or an upgrade. It starts and restarts nothing: the settings have to
# be edited first, and the operator chooses when each replica restarts.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers landfall.conf
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
