package rules

import (
	"cmp"
	"slices"
)

// Report collects what is wrong with a document, errors and warnings apart,
// and gives each list in document order whatever the order of the checks was.
type Report struct {
	limit    int
	shapes   int // shape violations kept; they arrive in document order
	errors   []finding
	warnings []finding
}

// finding is a violation whose path is not spelled out yet: most of a long
// list is never shown.
type finding struct {
	offset int32 // where it stands in the document
	node   *Node
	member string // below node, "" for the node itself
	code   string
	detail string
}

// Add says that a value is wrong.
func (r *Report) Add(node *Node, code, detail string) {
	r.errors = r.add(r.errors, newFinding(node, "", code, detail))
}

// AddField says that a member of an object is wrong, which need not be there.
func (r *Report) AddField(node *Node, field, code, detail string) {
	r.errors = r.add(r.errors, newFinding(node, field, code, detail))
}

// Warn says that a value is doubtful; the document is accepted all the same.
func (r *Report) Warn(node *Node, code, detail string) {
	r.warnings = r.add(r.warnings, newFinding(node, "", code, detail))
}

// WarnField says that a member of an object is doubtful or missing.
func (r *Report) WarnField(node *Node, field, code, detail string) {
	r.warnings = r.add(r.warnings, newFinding(node, field, code, detail))
}

// Failed reports whether the document must be refused.
func (r *Report) Failed() bool { return len(r.errors) > 0 }

// Errors gives what refuses the document, in document order. A list over the
// limit is cut and ends with too_many_errors.
func (r *Report) Errors() []Violation { return r.list(r.errors) }

// Warnings gives what is doubtful, in the same manner.
func (r *Report) Warnings() []Violation { return r.list(r.warnings) }

// DetailTooMany is what stands behind a list that was cut.
const DetailTooMany = "There are more problems than are listed. Mend these first."

func (r *Report) list(findings []finding) []Violation {
	if len(findings) == 0 {
		return []Violation{}
	}
	sortFindings(findings)
	shown := min(len(findings), r.limit)
	violations := make([]Violation, 0, shown+1)
	for _, f := range findings[:shown] {
		violations = append(violations, Violation{Code: f.code, Attr: f.attr(), Detail: f.detail})
	}
	if shown < len(findings) {
		violations = append(violations, Violation{Code: CodeTooManyErrors, Detail: DetailTooMany})
	}
	return violations
}

// add adds a finding of a rule. Only the first ones in document order can ever
// be shown, so the others are let go now and then.
func (r *Report) add(findings []finding, f finding) []finding {
	if len(findings) >= 8*(r.limit+1) {
		sortFindings(findings)
		findings = findings[:r.limit+1]
	}
	return append(findings, f)
}

func sortFindings(findings []finding) {
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.offset, b.offset) })
}

// addShape adds a violation found while reading. What comes after the limit could
// never be shown, so a hostile body cannot make the list long.
func (r *Report) addShape(f finding) {
	if !r.full() {
		r.errors = append(r.errors, f)
		r.shapes++
	}
}

func (r *Report) full() bool { return r.shapes > r.limit }

// newFinding places a finding: at the value, or where its object ends when the
// value is not there.
func newFinding(node *Node, field, code, detail string) finding {
	f := finding{offset: node.start, node: node, member: field, code: code, detail: detail}
	if field == "" {
		return f
	}
	if member := node.Field(field); member != absent {
		f.offset = member.start
	} else {
		f.offset = node.end
	}
	return f
}

func (f finding) attr() string {
	path := f.node.appendAttr(nil)
	if f.member != "" {
		if len(path) > 0 {
			path = append(path, '.')
		}
		path = append(path, f.member...)
	}
	return string(path)
}
