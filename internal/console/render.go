package console

import (
	"bytes"
	"html/template"
	"io"
	"time"
	_ "time/tzdata" // readers' zones must be known on hosts without a zone database
)

// maxZones bounds the zones that views are kept for. A visitor names his zone,
// and each takes some memory.
const maxZones = 24

// templateFor gives the views of a time zone. Times are written by functions of the
// templates, so each zone has its own.
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
	// Parsed under the lock: whoever comes at the same time with the same zone would only parse
	// them again.
	set, err := template.New("").Funcs(c.templateFuncs(location)).ParseFS(embedded, "views/*.html")
	if err != nil {
		return nil, err
	}
	// All go at once: which zone is used least is not worth keeping track of, and the next visit
	// parses its own again.
	if len(c.templates) >= maxZones {
		clear(c.templates)
	}
	c.templates[zone] = set
	return set, nil
}

// render fills in a view, and unless it is wanted bare the layout around it.
func (c *Console) render(out io.Writer, zone, view string, sheet *pageData, bare bool) error {
	set, err := c.templateFor(zone)
	if err != nil {
		return err
	}
	if bare {
		return set.ExecuteTemplate(out, view, sheet)
	}
	// The view is filled in first and into memory, so that an error in it leaves no half page
	// behind.
	var main bytes.Buffer
	if err := set.ExecuteTemplate(&main, view, sheet); err != nil {
		return err
	}
	sheet.Content = template.HTML(main.Bytes()) //nolint:gosec // a template has just escaped it
	return set.ExecuteTemplate(out, "layout", sheet)
}
