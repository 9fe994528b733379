package console

import (
	"bytes"
	"html/template"
	"sync"
	"time"
	_ "time/tzdata" // for hosts without a time zone database
)

// parseViews parses the views, once for all readers.
func (c *Console) parseViews() *template.Template {
	return template.Must(template.New("").Funcs(c.templateFuncs()).ParseFS(embedded, "views/*.html"))
}

// render executes a view for a reader in a time zone, and unless it is partial the
// layout around it.
func (c *Console) render(zone *time.Location, view string, data *pageData, partial bool) (string, error) {
	var content, page bytes.Buffer
	if err := c.views.ExecuteTemplate(&content, view, data); err != nil {
		return "", err
	}
	if !partial {
		data.Content = template.HTML(content.Bytes()) //nolint:gosec // escaped by the template
		if err := c.views.ExecuteTemplate(&page, "layout", data); err != nil {
			return "", err
		}
		content = page
	}
	return expandTimes(content.String(), zone, c.Clock()), nil
}

// maxZones limits the cached time zones, whose names browsers send. There are fewer
// than that.
const maxZones = 1000

// zoneCache holds the time zones in use: loading one reads files.
type zoneCache struct {
	mu     sync.Mutex
	loaded map[string]*time.Location
}

// find returns the time zone with a name, or UTC.
func (z *zoneCache) find(name string) *time.Location {
	z.mu.Lock()
	found := z.loaded[name]
	z.mu.Unlock()
	if found != nil {
		return found
	}
	// "Local" would be this host's zone. The length is limited because the name is
	// looked up on disk.
	if name == "" || name == "Local" || len(name) > 64 {
		return time.UTC
	}
	found, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if len(z.loaded) < maxZones {
		z.loaded[name] = found
	}
	return found
}
