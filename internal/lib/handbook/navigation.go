package handbook

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	groupTitle = regexp.MustCompile(`(?s)<p><strong>(.*?)</strong>.*?</p>`)
	pageLink   = regexp.MustCompile(`<a href="([^"#:]+\.html)">`)
)

// navigationOf reads the groups of the front page: a paragraph that begins in bold, and the links
// below it. A page is listed once, under the first group that links to it.
func navigationOf(pages []*page) (groups []group) {
	titles := map[string]string{}
	var front string
	for _, made := range pages {
		titles[made.name] = made.title
		if made.name == FrontPage {
			front = string(made.body)
		}
	}
	starts := groupTitle.FindAllStringSubmatchIndex(front, -1)
	listed := map[string]bool{}
	for i, at := range starts {
		end := len(front)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		made := group{Name: front[at[2]:at[3]]}
		for _, found := range pageLink.FindAllStringSubmatch(front[at[1]:end], -1) {
			name := strings.TrimSpace(found[1])
			if title := titles[name]; title != "" && !listed[name] {
				listed[name] = true
				made.Links = append(made.Links, link{title, name})
			}
		}
		groups = append(groups, made)
	}
	return groups
}

func base36(number int) string { return strconv.FormatInt(int64(number), 36) }
