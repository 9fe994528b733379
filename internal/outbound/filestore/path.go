package filestore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// resolve makes a supplier's root and a payload's path fit to be joined: no
// slashes around them, no segment that is empty or climbs, nothing a file
// system or a store could read as something else than a name. The rules of the
// wire are stricter still; this is the lock behind them, and the only one for
// roots. A supplier without a root has no files, rather than everybody's.
func resolve(root, path string) (cleanRoot, cleanPath string, ok bool) {
	cleanRoot = strings.Trim(root, "/")
	cleanPath = strings.TrimPrefix(path, "/")
	return cleanRoot, cleanPath, isPlain(cleanRoot) && isPlain(cleanPath)
}

// join gives the name inside the bucket.
func join(root, path string) string { return root + "/" + path }

func isPlain(name string) bool {
	if !utf8.ValidString(name) || strings.ContainsRune(name, '\\') || strings.ContainsFunc(name, unicode.IsControl) {
		return false
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
