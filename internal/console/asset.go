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

// embedded holds the assets and views, so that the console works on a machine
// without internet access.
//
//go:embed assets views
var embedded embed.FS

const assetPath = Root + "assets/"

// assetFiles are the files that pages load. Their names contain a part of their
// hash, so that browsers can cache them forever.
type assetFiles struct {
	paths    map[string]string // by plain name
	contents map[string][]byte // by name with hash
}

func loadAssets() *assetFiles {
	assets := &assetFiles{paths: map[string]string{}, contents: map[string][]byte{}}
	entries, err := embedded.ReadDir("assets")
	if err != nil {
		panic(err) // part of the binary
	}
	for _, entry := range entries {
		content, err := embedded.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		extension := path.Ext(entry.Name())
		hashed := strings.TrimSuffix(entry.Name(), extension) + "." + hex.EncodeToString(sum[:6]) + extension
		assets.paths[entry.Name()], assets.contents[hashed] = assetPath+hashed, content
	}
	return assets
}

// path returns the path of an asset.
func (a *assetFiles) path(name string) string { return a.paths[name] }

func (a *assetFiles) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, known := a.contents[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Del("Vary")
	// Embedded files have no modification time; the name is the version.
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
