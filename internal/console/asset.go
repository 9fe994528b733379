package console

import (
	"bytes"
	"compress/gzip"
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
	packed   map[string][]byte // the same, compressed
}

func loadAssets() *assetFiles {
	assets := &assetFiles{paths: map[string]string{}, contents: map[string][]byte{}, packed: map[string][]byte{}}
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
		assets.packed[hashed] = compress(content, gzip.BestCompression)
	}
	return assets
}

// acceptsGzip reports whether a response may be compressed.
func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if name, weight, _ := strings.Cut(strings.TrimSpace(one), ";"); strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimSpace(weight), "q=0. ") != "" || weight == ""
		}
	}
	return false
}

func compress(content []byte, level int) []byte {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic(err) // the level is ours
	}
	_, _ = writer.Write(content) // to memory
	_ = writer.Close()
	return out.Bytes()
}

func (a *assetFiles) path(name string) string { return a.paths[name] }

func (a *assetFiles) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, known := a.contents[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		content = a.packed[name]
		w.Header().Set("Content-Encoding", "gzip")
	}
	// Embedded files have no modification time; the name is the version.
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
