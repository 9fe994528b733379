package filestore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// resolve cleans a supplier's root and the path of a payload and reports
// whether they are safe to join: no empty segments, no dots, no control
// characters. The rules of the API are stricter for paths; for roots this is
// the only check. A supplier without a root has no files; it does not see those
// of all suppliers.
func resolve(root, path string) (cleanRoot, cleanPath string, ok bool) {
	cleanRoot = strings.Trim(root, "/")
	cleanPath = strings.TrimPrefix(path, "/")
	return cleanRoot, cleanPath, isCleanPath(cleanRoot) && isCleanPath(cleanPath)
}

// join returns the key inside the bucket.
func join(root, path string) string { return root + "/" + path }

func isCleanPath(name string) bool {
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
