package rules

import (
	"cmp"
	"slices"
)

// Report collects the errors and warnings of a document and returns each list in
// document order, regardless of the order of the checks.
type Report struct {
	limit    int
	shapes   int // number of shape violations; they arrive in document order
	errors   []finding
	warnings []finding
}

// finding is a violation whose path is not written yet, because most of a long
// list is never shown.
type finding struct {
	offset int32 // position in the document
	node   *Node
	member string // below node; "" for the node itself
	code   string
	detail string
}

// Add reports an error in a value.
func (r *Report) Add(node *Node, code, detail string) {
	r.errors = r.add(r.errors, newFinding(node, "", code, detail))
}

// AddField reports an error in a member of an object, which may be absent.
func (r *Report) AddField(node *Node, field, code, detail string) {
	r.errors = r.add(r.errors, newFinding(node, field, code, detail))
}

// Warn reports a warning about a value. The document is still accepted.
func (r *Report) Warn(node *Node, code, detail string) {
	r.warnings = r.add(r.warnings, newFinding(node, "", code, detail))
}

// WarnField reports a warning about a member of an object, which may be absent.
func (r *Report) WarnField(node *Node, field, code, detail string) {
	r.warnings = r.add(r.warnings, newFinding(node, field, code, detail))
}

// Failed reports whether there are errors.
func (r *Report) Failed() bool { return len(r.errors) > 0 }

// Errors returns the errors in document order. A list over the limit is
// truncated and ends with too_many_errors.
func (r *Report) Errors() []Violation { return r.list(r.errors) }

// Warnings returns the warnings in the same way.
func (r *Report) Warnings() []Violation { return r.list(r.warnings) }

// DetailTooMany is the last entry of a truncated list.
const DetailTooMany = "There are more problems than listed. Fix these first."

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

// add adds the finding of a rule. Only the first ones in document order are ever
// shown, so the rest is dropped from time to time.
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

// addShape adds a violation found while reading. Violations over the limit are
// never shown, so a hostile body cannot make the list long.
func (r *Report) addShape(f finding) {
	if !r.full() {
		r.errors = append(r.errors, f)
		r.shapes++
	}
}

func (r *Report) full() bool { return r.shapes > r.limit }

// newFinding positions a finding at the value or, if it is absent, at the end of
// its object.
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
