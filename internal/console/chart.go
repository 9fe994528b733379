package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Charts are drawn here, without a script, with a table of the same figures for
// whoever cannot see them. Colours come from classes: the policy of our pages
// lets no style stand in them.

// Segment is a part of a bar.
type Segment struct {
	Label string // what it is called, which also decides its colour
	Count int64
	Path  string // the accounts behind it; "" when there is no list of them
}

// barWidth is the number of units a bar is wide.
const barWidth = 1000

// barChart draws one bar of parts. A part that is there is never so thin that it
// cannot be seen. Failed and refused parts are hatched as well: colour alone
// says nothing to some.
func barChart(segments []Segment) template.HTML {
	var all, shown int64
	for _, segment := range segments {
		all += segment.Count
	}
	var out, told strings.Builder
	x := int64(0)
	// In units of barWidth: at that width a sliver is still some pixels on a wide screen.
	const least = 6
	for _, segment := range segments {
		if segment.Count <= 0 {
			continue
		}
		shown += segment.Count
		if told.Len() > 0 {
			told.WriteString(", ")
		}
		fmt.Fprintf(&told, "%s %s", grouped(strconv.FormatInt(segment.Count, 10)), segment.Label)
		// Ends are computed from the sum so far and not from each count, so that rounding does
		// not add up and the last part ends where the bar does.
		end := max(x+least, shown*barWidth/all)
		end = min(end, barWidth)
		fmt.Fprintf(&out, `<rect x="%d" y="0" width="%d" height="12" class="fill %s"><title>%s %s</title></rect>`,
			x, max(end-x, 1), segmentClass(segment.Label), grouped(strconv.FormatInt(segment.Count, 10)), template.HTMLEscapeString(segment.Label))
		if hatched(segment.Label) {
			for mark := x + 3; mark+4 <= end; mark += 8 {
				fmt.Fprintf(&out, `<rect x="%d" y="0" width="2" height="12" class="hatch"/>`, mark)
			}
		}
		x = end
	}
	if told.Len() == 0 {
		told.WriteString("no accounts yet")
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 %d 12" preserveAspectRatio="none" role="img" aria-label="%s">`+ //nolint:gosec // escaped above
		`<rect width="%d" height="12" class="ground"/>%s</svg>`, barWidth, template.HTMLEscapeString(told.String()), barWidth, out.String()))
}

// segmentClass gives parts of a word without a class the colour of staged: a bar cannot be quiet, or
// the part would look like the empty ground.
func segmentClass(word string) string {
	if class := stateClasses[word]; class != "" {
		return class
	}
	return "staged"
}

// hatched says which parts have a pattern.
func hatched(word string) bool { return word == "failed" || word == "refused" }

// Row is one line of a chart of bars.
type Row struct {
	Name      string
	Count     int64
	Path      string
	Highlight bool // it stands out, as what is to be repaired first
	Note      string
}

// barTable draws horizontal bars from a table, longest first, each with its figure.
func barTable(rows []Row) template.HTML {
	// From one and not from zero, because it is divided by.
	longest := int64(1)
	for _, row := range rows {
		longest = max(longest, row.Count)
	}
	var out strings.Builder
	out.WriteString(`<div class="scroll"><table class="bars"><tbody>`)
	for _, row := range rows {
		class, name := "progress", template.HTMLEscapeString(row.Name)
		if row.Highlight {
			class = "failed"
		}
		if row.Path != "" {
			name = `<a href="` + template.HTMLEscapeString(row.Path) + `">` + name + `</a>`
		}
		// The figure stands in a cell of its own, so the drawing is hidden from screen readers,
		// which would say it twice.
		fmt.Fprintf(&out, `<tr><th scope="row">%s</th><td class="num">%s</td><td class="track"><svg class="bar" viewBox="0 0 %d 12" `+
			`preserveAspectRatio="none" aria-hidden="true"><rect width="%d" height="12" class="fill %s"/></svg></td><td class="quiet">%s</td></tr>`,
			name, grouped(strconv.FormatInt(row.Count, 10)), barWidth, max(2, row.Count*barWidth/longest), class, template.HTMLEscapeString(row.Note))
	}
	out.WriteString(`</tbody></table></div>`)
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

// Point is a figure at a moment.
type Point struct {
	At    time.Time
	Count int64
	Pause bool // nothing was meant to happen then
}

// The measures of a line chart: as wide as a page has room for, and as wide as a
// phone, where the same shrunk could not be read. The style shows one of them.
const (
	lineWidth, phoneWidth = 720, 336
	lineHeight            = 140
	lineLeft, lineBottom  = 56, 20
)

// lineChart draws figures over time with a table behind them.
func (c timeWriter) lineChart(points []Point, noun string) template.HTML {
	if len(points) < 2 {
		return ""
	}
	told := c.timeFormat(points[len(points)-1].At.Sub(points[0].At))
	var out strings.Builder
	out.WriteString(c.drawLine(points, noun, "wide", lineWidth))
	out.WriteString(c.drawLine(points, noun, "slim", phoneWidth))
	out.WriteString(`<details class="figures"><summary>The figures as a table</summary><table><thead><tr><th>time</th><th class="num">` +
		template.HTMLEscapeString(noun) + `</th></tr></thead><tbody>`)
	for _, point := range points {
		fmt.Fprintf(&out, `<tr><td>%s</td><td class="num">%s</td></tr>`, told(point.At), grouped(strconv.FormatInt(point.Count, 10)))
	}
	out.WriteString(`</tbody></table></details>`)
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

// timeFormat writes times of a chart, with seconds where it has few minutes.
func (c timeWriter) timeFormat(span time.Duration) func(time.Time) string {
	layout := "15:04"
	if span < 10*time.Minute {
		layout = "15:04:05"
	}
	return func(at time.Time) string { return at.In(c.zone).Format(layout) }
}

// drawLine draws figures from zero, pauses shaded, and the highest figure named
// where it is.
func (c timeWriter) drawLine(points []Point, noun, class string, width int64) string {
	first, last := points[0].At, points[len(points)-1].At
	highest, at := int64(1), points[0].At
	for _, point := range points {
		if point.Count > highest {
			highest, at = point.Count, point.At
		}
	}
	// A run of a moment must not divide by zero.
	span := max(last.Sub(first), time.Second)
	told := c.timeFormat(span)
	x := func(at time.Time) int64 {
		// Divided before it is multiplied: nanoseconds of a run of many months times the width
		// would overflow. The one more keeps the last point inside the frame.
		return lineLeft + int64(at.Sub(first))/(int64(span)/(width-lineLeft-8)+1)
	}
	y := func(count int64) int64 { return lineHeight - lineBottom - count*(lineHeight-lineBottom-16)/highest }
	var shade, path strings.Builder
	for i, point := range points {
		// The shade reaches back to the point before: a point says how it was since then.
		if point.Pause && i > 0 {
			fmt.Fprintf(&shade, `<rect x="%d" y="12" width="%d" height="%d" class="shade"/>`, x(points[i-1].At), max(1, x(point.At)-x(points[i-1].At)), lineHeight-lineBottom-12)
		}
		fmt.Fprintf(&path, "%d,%d ", x(point.At), y(point.Count))
	}
	label := fmt.Sprintf("%s over time, at most %s at %s", noun, grouped(strconv.FormatInt(highest, 10)), told(at))
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="line %s" viewBox="0 0 %d %d" role="img" aria-label="%s">%s`, class, width, lineHeight, template.HTMLEscapeString(label), shade.String())
	fmt.Fprintf(&out, `<line x1="%d" y1="%d" x2="%d" y2="%d" class="axis"/>`, lineLeft, y(0), width-8, y(0))
	fmt.Fprintf(&out, `<text x="%d" y="%d" class="label end">0</text><text x="%d" y="%d" class="label end">%s</text>`,
		lineLeft-6, y(0)+4, lineLeft-6, y(highest)+4, grouped(strconv.FormatInt(highest, 10)))
	fmt.Fprintf(&out, `<text x="%d" y="%d" class="label">%s</text><text x="%d" y="%d" class="label end">%s</text>`,
		lineLeft, lineHeight-4, told(first), width-8, lineHeight-4, told(last))
	fmt.Fprintf(&out, `<polyline points="%s" class="curve"/></svg>`, strings.TrimSpace(path.String()))
	return out.String()
}
