package console

import (
	"bytes"
	"html/template"
	"io"
	"time"
	_ "time/tzdata" // for hosts without a time zone database
)

// maxZones limits the number of cached template sets. The browser names the zone,
// and each set takes memory.
const maxZones = 24

// templateFor returns the templates for a time zone. Template functions format
// times, so each zone has its own set.
func (c *Console) templateFor(zone string) (*template.Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set := c.templates[zone]; set != nil {
		return set, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	// Parse under the lock, so that concurrent requests do not parse the same set.
	set, err := template.New("").Funcs(c.templateFuncs(location)).ParseFS(embedded, "views/*.html")
	if err != nil {
		return nil, err
	}
	if len(c.templates) >= maxZones {
		clear(c.templates)
	}
	c.templates[zone] = set
	return set, nil
}

// render executes a view, and unless it is partial the layout around it.
func (c *Console) render(out io.Writer, zone, view string, data *pageData, partial bool) error {
	set, err := c.templateFor(zone)
	if err != nil {
		return err
	}
	if partial {
		return set.ExecuteTemplate(out, view, data)
	}
	var content bytes.Buffer
	if err := set.ExecuteTemplate(&content, view, data); err != nil {
		return err
	}
	data.Content = template.HTML(content.Bytes()) //nolint:gosec // escaped by the template
	return set.ExecuteTemplate(out, "layout", data)
}
