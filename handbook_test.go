package landfall_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/lib/handbook"
)

var (
	siteLinks   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	siteAnchors = regexp.MustCompile(` id="([^"]*)"`)
	pageLinks   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// TestHandbookLinksWork builds the site. Every link and anchor must lead somewhere, every page must be
// reachable from the front page, and nothing may be loaded from elsewhere.
func TestHandbookLinksWork(t *testing.T) {
	site, err := handbook.Build(landfall.Handbook)
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string][]string{}
	for name, file := range site {
		for _, found := range siteAnchors.FindAllStringSubmatch(string(file.Content), -1) {
			anchors[name] = append(anchors[name], found[1])
		}
	}
	reached, waiting := map[string]bool{handbook.FrontPage: true}, []string{handbook.FrontPage}
	count := 0
	for len(waiting) > 0 {
		from := waiting[0]
		waiting = waiting[1:]
		if path.Ext(from) != ".html" {
			continue
		}
		for _, found := range siteLinks.FindAllStringSubmatch(string(site[from].Content), -1) {
			to, anchor, _ := strings.Cut(found[1], "#")
			if to == "" {
				to = from
			}
			if strings.HasPrefix(to, "https://") || to == "data:," || strings.HasPrefix(to, "../") || strings.HasPrefix(to, "http://127.0.0.1") || strings.HasPrefix(to, "http://localhost") {
				continue
			}
			count++
			if _, exists := site[to]; !exists {
				t.Errorf("%s links to %s, which does not exist", from, found[1])
			} else if anchor != "" && !slices.Contains(anchors[to], anchor) {
				t.Errorf("%s links to %s, which has no such section", from, found[1])
			}
			if !reached[to] {
				reached[to] = true
				waiting = append(waiting, to)
			}
		}
	}
	for name := range site {
		if !reached[name] && name != "search-index.js" && path.Ext(name) == ".html" {
			t.Errorf("no page leads to %s", name)
		}
	}
	if count < 1000 || len(reached) < 100 {
		t.Errorf("only %d links and %d files were found", count, len(reached))
	}
	front := string(site[handbook.FrontPage].Content)
	for _, want := range []string{"<h2>Send accounts</h2>", "<h2>Operate it</h2>", "<h2>Change it</h2>", `<a href="alarms.html">`} {
		if !strings.Contains(front, want) {
			t.Errorf("the front page has no %s", want)
		}
	}
	for _, want := range []string{`\nfailover `, `["copy.html#from-sqlite-to-postgresql",`} {
		if !strings.Contains(string(site["search-index.js"].Content), want) {
			t.Errorf("the search index has no %s", want)
		}
	}
}

// TestLinksToOtherFilesWork checks the links of all pages in the repository, where they may lead to
// files that are not part of the site.
func TestLinksToOtherFilesWork(t *testing.T) {
	err := fs.WalkDir(landfall.Handbook, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, found := range pageLinks.FindAllStringSubmatch(string(text), -1) {
			file, _, _ := strings.Cut(found[1], "#")
			if file == "" || strings.Contains(file, ":") {
				continue
			}
			if _, err := os.Stat(path.Join(path.Dir(name), file)); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
