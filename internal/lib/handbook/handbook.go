// Package handbook turns a folder of Markdown files into a small web site that works
// offline: pages, a navigation, a search index.
package handbook

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// File is a file of the site.
type File struct {
	Type    string // its content type
	Content []byte
}

// Site has the files by name. All are in one folder.
type Site map[string]File

// FrontPage is the name of the first page.
const FrontPage = "index.html"

// docsFolder has the pages; a few others lie beside it.
const docsFolder = "docs"

// PolicyOfPages is the Content-Security-Policy that the pages need.
const PolicyOfPages = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed assets
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "assets/page.html"))

// page is a page while the site is built.
type page struct {
	source, name string // paths of the Markdown file and of the page
	title        string
	body         []byte
	headings     []heading
	sections     []section
}

// heading is a heading with its anchor.
type heading struct {
	Level    int
	ID, Text string
}

// group is a group of links in the navigation.
type group struct {
	Name  string
	Links []link
}

type link struct{ Name, Page string }

// Build builds the site. docs/README.md becomes its front page and the navigation.
func Build(files fs.FS) (Site, error) {
	b := &builder{files: files, names: map[string]string{}, folders: map[string][]string{}, linked: map[string]bool{}}
	if err := fs.WalkDir(files, ".", b.find); err != nil {
		return nil, err
	}
	site := Site{}
	var pages []*page
	for _, source := range slices.Sorted(maps.Keys(b.names)) {
		text, err := fs.ReadFile(files, source)
		if err != nil {
			return nil, err
		}
		name := b.names[source]
		if path.Ext(source) != ".md" {
			site[name] = File{typeOf(name), text}
			continue
		}
		made, err := b.render(source, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		pages = append(pages, made)
	}
	for _, folder := range slices.Sorted(maps.Keys(b.linked)) {
		pages = append(pages, b.listing(folder, b.folders[folder]))
	}
	navigation := navigationOf(pages)
	for _, made := range pages {
		var out bytes.Buffer
		err := layout.Execute(&out, map[string]any{
			"Title": made.title, "Name": made.name, "Navigation": navigation, "Front": made.name == FrontPage,
			"Headings": made.headings, "Body": template.HTML(made.body), //nolint:gosec // rendered from our own pages
		})
		if err != nil {
			return nil, err
		}
		site[made.name] = File{typeOf(made.name), out.Bytes()}
	}
	index, err := searchIndex(pages)
	if err != nil {
		return nil, err
	}
	site["search-index.js"] = File{typeOf(".js"), index}
	for _, name := range []string{"site.css", "site.js"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		site[name] = File{typeOf(name), text}
	}
	return site, nil
}

type builder struct {
	files   fs.FS
	names   map[string]string   // of all files of the site, by their path
	folders map[string][]string // with all that is in them
	linked  map[string]bool     // folders that a page links to
}

// find gives every file its name in the site. Names of folders become part of it.
func (b *builder) find(name string, entry fs.DirEntry, err error) error {
	inside, isDoc := strings.CutPrefix(name, docsFolder+"/")
	switch {
	case err != nil || entry.IsDir() || path.Ext(name) == ".go":
		return err
	case name == docsFolder+"/README.md":
		b.names[name] = FrontPage
		return nil
	case !isDoc && path.Ext(name) != ".md":
		b.names[name] = strings.ToLower(name) + ".txt"
		return nil
	case !isDoc:
		inside = strings.ToLower(name)
	}
	b.names[name] = strings.TrimSuffix(strings.ReplaceAll(inside, "/", "-"), ".md")
	if path.Ext(name) == ".md" {
		b.names[name] += ".html"
	}
	for folder := path.Dir(name); folder != docsFolder && folder != "."; folder = path.Dir(folder) {
		b.folders[folder] = append(b.folders[folder], name)
	}
	return nil
}

// target returns the place in the site that a link of a page leads to, and false if it leads to
// a file that is not part of the site.
func (b *builder) target(from, to string) (string, bool) {
	file, anchor, hasAnchor := strings.Cut(to, "#")
	if file == "" || strings.Contains(to, ":") {
		return to, true
	}
	file = path.Join(path.Dir(from), file)
	name, found := b.names[file]
	if _, isFolder := b.folders[file]; !found && isFolder {
		name, found, b.linked[file] = folderPage(file), true, true
	}
	if hasAnchor {
		name += "#" + anchor
	}
	return name, found
}

// folderPage is the name of the page that lists a folder.
func folderPage(folder string) string {
	return strings.ReplaceAll(strings.TrimPrefix(folder, docsFolder+"/"), "/", "-") + ".html"
}

// listing is a page with links to all files of a folder.
func (b *builder) listing(folder string, content []string) *page {
	made := &page{source: folder, name: folderPage(folder), title: strings.TrimPrefix(folder, docsFolder+"/")}
	slices.Sort(content)
	body := fmt.Appendf(nil, "<h1>%s</h1>\n<ul>\n", template.HTMLEscapeString(made.title))
	for _, file := range content {
		shown := template.HTMLEscapeString(strings.TrimPrefix(file, folder+"/"))
		body = fmt.Appendf(body, "<li><a href=%q>%s</a></li>\n", b.names[file], shown)
	}
	body = append(body, "</ul>\n"...)
	made.body = body
	return made
}

// typeOf returns the content type of a file.
func typeOf(name string) string {
	return cmp.Or(map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png",
	}[path.Ext(name)], "text/plain; charset=utf-8")
}
