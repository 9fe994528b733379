package pack

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed builtin/*.yaml
var files embed.FS

// Builtin returns the text of a built-in pack by its name, such as gb-energy@1.
func Builtin(name string) (text []byte, found bool) {
	code, version, err := SplitName(name)
	if err != nil || version != 1 { // each has one version so far
		return nil, false
	}
	text, err = files.ReadFile("builtin/" + code + ".yaml")
	return text, err == nil
}

// BuiltinNames lists the built-in packs.
func BuiltinNames() []string {
	found, _ := fs.Glob(files, "builtin/*.yaml")
	names := make([]string, 0, len(found))
	for _, file := range found {
		names = append(names, strings.TrimSuffix(path.Base(file), ".yaml")+"@1")
	}
	return names
}
