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

// lineSize is the size of a line chart.
type lineSize struct {
	class         string
	width, height int64
}

// lineSizes are for wide screens and for phones, where a scaled-down chart could not be
// read. CSS shows one of them.
var lineSizes = []lineSize{{"wide", 960, 200}, {"slim", 336, 150}}

// The edges of a line chart, for the figures and the times.
const lineLeft, lineRight, lineTop, lineBottom = 56, 8, 12, 22

// lineChart draws figures over time with a table of them.
func lineChart(points []Point, noun string) template.HTML {
	if len(points) < 2 {
		return ""
	}
	format := chartTime(points[len(points)-1].At.Sub(points[0].At))
	var out strings.Builder
	for _, size := range lineSizes {
		out.WriteString(size.draw(points, noun))
	}
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

// draw draws the figures as a line over an area, with pauses shaded, lines at round
// figures and the times of the beginning and the end.
func (s lineSize) draw(points []Point, noun string) string {
	first, last := points[0].At, points[len(points)-1].At
	highest, highestAt, paused := int64(1), points[0].At, false
	for _, point := range points {
		if paused = paused || point.Pause; point.Count > highest {
			highest, highestAt = point.Count, point.At
		}
	}
	top := roundUp(highest)
	span := max(last.Sub(first), time.Millisecond) // it is divided by
	format := chartTime(span)
	right, bottom := s.width-lineRight, s.height-lineBottom
	x := func(at time.Time) int64 {
		return lineLeft + int64(float64(at.Sub(first))/float64(span)*float64(right-lineLeft))
	}
	y := func(count int64) int64 {
		return bottom - int64(float64(count)/float64(top)*float64(bottom-lineTop))
	}
	var out, path strings.Builder
	label := fmt.Sprintf("%s over time, at most %s at %s", template.HTMLEscapeString(noun), groupDigits(strconv.FormatInt(highest, 10)), format(highestAt))
	fmt.Fprintf(&out, `<svg class="line %s" viewBox="0 0 %d %d" role="img" aria-label="%s">`, s.class, s.width, s.height, label)
	for i, point := range points {
		// A point describes the time since the point before, so the shade starts there.
		if point.Pause && i > 0 {
			from := x(points[i-1].At)
			fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" class="shade"/>`, from, lineTop, max(1, x(point.At)-from), bottom-lineTop)
		}
		fmt.Fprintf(&path, "%d,%d ", x(point.At), y(point.Count))
	}
	for _, count := range []int64{0, top / 2, top} {
		class := "grid"
		if count == 0 {
			class = "axis"
		}
		fmt.Fprintf(&out, `<line x1="%d" y1="%d" x2="%d" y2="%d" class="%s"/><text x="%d" y="%d" class="label end">%s</text>`,
			lineLeft, y(count), right, y(count), class, lineLeft-6, y(count)+4, groupDigits(strconv.FormatInt(count, 10)))
	}
	end := format(last)
	if span < 10*time.Second { // both times would look the same
		end = fmt.Sprintf("%.1f seconds later", span.Seconds())
	}
	fmt.Fprintf(&out, `<text x="%d" y="%d" class="label">%s</text><text x="%d" y="%d" class="label end">%s</text>`, lineLeft, s.height-6, format(first), right, s.height-6, end)
	if paused {
		fmt.Fprintf(&out, `<text x="%d" y="%d" class="label middle">shaded: paused</text>`, (lineLeft+right)/2, s.height-6)
	}
	line := strings.TrimSpace(path.String())
	fmt.Fprintf(&out, `<polygon points="%d,%d %s %d,%d" class="area"/><polyline points="%s" class="curve"/></svg>`, x(first), bottom, line, x(last), bottom, line)
	return out.String()
}

// roundUp is a round number that is not smaller, and even: 2,058 becomes 2,200.
func roundUp(number int64) int64 {
	unit := int64(1)
	for (number-1)/10 >= unit {
		unit *= 10
	}
	step := max(2, unit/5)
	return (number + step - 1) / step * step
}
