package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Charts are SVG drawn on the server, with the figures as text for people who
// cannot see them. Colours come from CSS classes, because the content security
// policy allows no inline style.

// Segment is a part of a bar.
type Segment struct {
	Label string // also decides the colour
	Count int64
	Path  string // the list of these accounts; "" if there is none
}

// barWidth is the width of a bar in SVG units.
const barWidth = 1000

// barChart draws one bar with segments. Every segment is wide enough to be seen.
// Failed and refused segments are also hatched, because colour alone is not enough.
func barChart(segments []Segment) template.HTML {
	const minWidth = 6
	var sum, drawn, x int64
	for _, segment := range segments {
		sum += segment.Count
	}
	var out, label strings.Builder
	for _, segment := range segments {
		if segment.Count <= 0 || segment.Label == "" { // the rest of the bar
			continue
		}
		drawn += segment.Count
		if label.Len() > 0 {
			label.WriteString(", ")
		}
		count := groupDigits(strconv.FormatInt(segment.Count, 10))
		label.WriteString(count + " " + segment.Label)
		// Compute ends from the running sum, so that rounding errors do not add up.
		end := min(max(x+minWidth, drawn*barWidth/sum), barWidth)
		fmt.Fprintf(&out, `<rect x="%d" y="0" width="%d" height="12" class="fill %s"><title>%s %s</title></rect>`,
			x, max(end-x, 1), segmentClass(segment.Label), count, template.HTMLEscapeString(segment.Label))
		if segment.Label == "failed" || segment.Label == "refused" {
			for mark := x + 3; mark+4 <= end; mark += 8 {
				fmt.Fprintf(&out, `<rect x="%d" y="0" width="2" height="12" class="hatch"/>`, mark)
			}
		}
		x = end
	}
	if label.Len() == 0 {
		label.WriteString("no accounts yet")
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 %d 12" preserveAspectRatio="none" role="img" aria-label="%s">`+ //nolint:gosec // escaped above
		`<rect width="%d" height="12" class="ground"/>%s</svg>`, barWidth, template.HTMLEscapeString(label.String()), barWidth, out.String()))
}

// segmentClass is the CSS class of a segment. Unknown labels look like staged:
// a neutral segment would look like the empty background.
func segmentClass(label string) string {
	if class := stateClasses[label]; class != "" {
		return class
	}
	return "staged"
}

// Row is one line of a bar table.
type Row struct {
	Name  string
	Count int64
}

// barTable draws a table with a bar for each row.
func barTable(rows []Row) template.HTML {
	longest := int64(1)
	for _, row := range rows {
		longest = max(longest, row.Count)
	}
	var out strings.Builder
	out.WriteString(`<div class="scroll"><table class="bars"><tbody>`)
	for _, row := range rows {
		// The bar is hidden from screen readers, which read the figure.
		fmt.Fprintf(&out, `<tr><th scope="row">%s</th><td class="num">%s</td><td class="track"><svg class="bar" viewBox="0 0 %d 12" `+
			`preserveAspectRatio="none" aria-hidden="true"><rect width="%d" height="12" class="fill progress"/></svg></td></tr>`,
			template.HTMLEscapeString(row.Name), groupDigits(strconv.FormatInt(row.Count, 10)), barWidth, max(2, row.Count*barWidth/longest))
	}
	out.WriteString(`</tbody></table></div>`)
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

// Point is a figure at a time.
type Point struct {
	At    time.Time
	Count int64
	Pause bool // the run was paused
}

// Sizes of a line chart. There are two, for wide screens and for phones, where a
// scaled-down chart could not be read. CSS shows one of them.
const (
	lineWidth, phoneWidth = 720, 336
	lineHeight            = 140
	lineLeft, lineBottom  = 56, 20
)

// lineChart draws figures over time with a table of them.
func lineChart(points []Point, noun string) template.HTML {
	if len(points) < 2 {
		return ""
	}
	format := chartTime(points[len(points)-1].At.Sub(points[0].At))
	var out strings.Builder
	out.WriteString(drawLine(points, noun, "wide", lineWidth))
	out.WriteString(drawLine(points, noun, "slim", phoneWidth))
	out.WriteString(`<details class="figures"><summary>Show as table</summary><table><thead><tr><th>Time</th><th class="num">` +
		template.HTMLEscapeString(noun) + `</th></tr></thead><tbody>`)
	for _, point := range points {
		fmt.Fprintf(&out, `<tr><td>%s</td><td class="num">%s</td></tr>`, format(point.At), groupDigits(strconv.FormatInt(point.Count, 10)))
	}
	out.WriteString(`</tbody></table></details>`)
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

// chartTime writes times of a chart, with seconds if it spans few minutes.
func chartTime(span time.Duration) func(time.Time) string {
	how := byte(asMinutes)
	if span < 10*time.Minute {
		how = asSeconds
	}
	return func(at time.Time) string { return markTime(at, how) }
}

// drawLine draws the figures with pauses shaded and the highest figure labelled.
func drawLine(points []Point, noun, class string, width int64) string {
	first, last := points[0].At, points[len(points)-1].At
	highest, highestAt := int64(1), points[0].At
	for _, point := range points {
		if point.Count > highest {
			highest, highestAt = point.Count, point.At
		}
	}
	span := max(last.Sub(first), time.Second) // it is divided by
	format := chartTime(span)
	x := func(at time.Time) int64 {
		// Divide first: nanoseconds of many months times the width would overflow.
		// Adding one keeps the last point inside the frame.
		return lineLeft + int64(at.Sub(first))/(int64(span)/(width-lineLeft-8)+1)
	}
	y := func(count int64) int64 { return lineHeight - lineBottom - count*(lineHeight-lineBottom-16)/highest }
	var shade, path strings.Builder
	for i, point := range points {
		// A point describes the time since the point before, so the shade starts there.
		if point.Pause && i > 0 {
			fmt.Fprintf(&shade, `<rect x="%d" y="12" width="%d" height="%d" class="shade"/>`,
				x(points[i-1].At), max(1, x(point.At)-x(points[i-1].At)), lineHeight-lineBottom-12)
		}
		fmt.Fprintf(&path, "%d,%d ", x(point.At), y(point.Count))
	}
	top := groupDigits(strconv.FormatInt(highest, 10))
	label := fmt.Sprintf("%s over time, at most %s at %s", template.HTMLEscapeString(noun), top, format(highestAt))
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="line %s" viewBox="0 0 %d %d" role="img" aria-label="%s">%s`, class, width, lineHeight, label, shade.String())
	fmt.Fprintf(&out, `<line x1="%d" y1="%d" x2="%d" y2="%d" class="axis"/>`, lineLeft, y(0), width-8, y(0))
	fmt.Fprintf(&out, `<text x="%d" y="%d" class="label end">0</text><text x="%d" y="%d" class="label end">%s</text>`,
		lineLeft-6, y(0)+4, lineLeft-6, y(highest)+4, top)
	fmt.Fprintf(&out, `<text x="%d" y="%d" class="label">%s</text><text x="%d" y="%d" class="label end">%s</text>`,
		lineLeft, lineHeight-4, format(first), width-8, lineHeight-4, format(last))
	fmt.Fprintf(&out, `<polyline points="%s" class="curve"/></svg>`, strings.TrimSpace(path.String()))
	return out.String()
}
