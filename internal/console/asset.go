package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"
)

// embedded is everything the console consists of besides its code, so that it
// works on a machine that reaches nothing else.
//
//go:embed assets views
var embedded embed.FS

const assetPath = Root + "assets/"

// assetFiles holds the files that pages load. Their names carry a part of their
// hash, so that browsers may keep them for ever.
type assetFiles struct {
	names map[string]string // what a page calls it → with the hash
	files map[string][]byte // by the latter
}

func loadAssets() *assetFiles {
	s := &assetFiles{names: map[string]string{}, files: map[string][]byte{}}
	entries, err := embedded.ReadDir("assets")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, entry := range entries {
		content, err := embedded.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err)
		}
		// Six bytes of the hash are enough: names only have to differ between releases of one
		// file.
		sum := sha256.Sum256(content)
		kind := path.Ext(entry.Name())
		named := strings.TrimSuffix(entry.Name(), kind) + "." + hex.EncodeToString(sum[:6]) + kind
		s.names[entry.Name()], s.files[named] = assetPath+named, content
	}
	return s
}

// path gives the address of a file.
func (s *assetFiles) path(name string) string { return s.names[name] }

func (s *assetFiles) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, known := s.files[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	// The name changes with the content, so that nothing kept can be out of date. It replaces the
	// no-store that every other answer of the console carries.
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Del("Vary")
	// No time of change is given: embedded files have none, and the name serves as the version.
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
