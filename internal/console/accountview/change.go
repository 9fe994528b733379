package accountview

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"landfall"
)

// Changes are the differences between two revisions of the staged data, or all
// fields of the only revision.
type Changes struct {
	From, To int // revisions; From is 0 if there is only one
	Rows     []Change
	Same     int  // unchanged fields
	More     int  // changes beyond the limit
	TooLong  bool // the documents are too long to compare
	Masked   bool
}

// Change is one changed field.
type Change struct {
	Attr     string
	Old, New string
	Kind     string // "added", "removed" or "changed"
}

// Limits of a comparison.
const (
	maxComparedBytes = 2 << 20 // bytes of a document
	maxChanges       = 400
	maxValueBytes    = 200 // bytes
)

// ChangesBetween compares two revisions in linear time. It masks values unless
// personal data is shown; the names of changed fields are not personal.
func ChangesBetween(former, latest *landfall.StagedRevision, personal bool) Changes {
	changes := Changes{Masked: !personal}
	if latest == nil {
		return changes
	}
	changes.To = latest.Revision
	before := map[string]string{}
	if former != nil {
		changes.From = former.Revision
		if changes.TooLong = len(former.Document) > maxComparedBytes; !changes.TooLong {
			before = documentFields(former.Document)
		}
	}
	if changes.TooLong = changes.TooLong || len(latest.Document) > maxComparedBytes; changes.TooLong {
		return changes
	}
	after := documentFields(latest.Document)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, attr := range slices.SortedFunc(maps.Keys(all), compareAttrs) {
		was, had := before[attr]
		is, has := after[attr]
		kind := "changed"
		switch {
		case was == is && had == has:
			changes.Same++
			continue
		case !had:
			kind = "added"
		case !has:
			kind = "removed"
		}
		if len(changes.Rows) == maxChanges {
			changes.More++
			continue
		}
		changes.Rows = append(changes.Rows, Change{attr, changeValue(was, had, personal), changeValue(is, has, personal), kind})
	}
	return changes
}

// changeValue formats one side of a change.
func changeValue(text string, there, personal bool) string {
	switch {
	case !there:
		return ""
	case !personal:
		return dots(3)
	}
	if len(text) > maxValueBytes {
		cut := maxValueBytes
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		return text[:cut] + "…"
	}
	return text
}

// documentFields returns every value of a document by its dotted path.
func documentFields(document []byte) map[string]string {
	decoder := json.NewDecoder(bytes.NewReader(document))
	// Keep numbers as text: as floats 0.10 and 0.1 would be equal, and long numbers
	// would lose digits.
	decoder.UseNumber()
	var root any
	found := map[string]string{}
	if decoder.Decode(&root) == nil {
		flatten("", root, found)
	}
	return found
}

// flatten collects the leaves with the dotted paths that violations use.
func flatten(attr string, node any, into map[string]string) {
	dotted := func(name string) string {
		if attr == "" {
			return name
		}
		return attr + "." + name
	}
	switch node := node.(type) {
	case map[string]any:
		for name, child := range node {
			flatten(dotted(name), child, into)
		}
	case []any:
		for i, child := range node {
			flatten(dotted(strconv.Itoa(i)), child, into)
		}
	case string:
		into[attr] = node
	case json.Number:
		into[attr] = node.String()
	case bool:
		into[attr] = strconv.FormatBool(node)
	case nil:
		into[attr] = "null"
	}
}

// compareAttrs sorts list indexes by number: 2 before 10.
func compareAttrs(a, b string) int {
	for {
		x, restA, moreA := strings.Cut(a, ".")
		y, restB, moreB := strings.Cut(b, ".")
		if x != y {
			m, errM := strconv.Atoi(x)
			n, errN := strconv.Atoi(y)
			if errM == nil && errN == nil {
				return m - n
			}
			return strings.Compare(x, y)
		}
		if !moreA || !moreB {
			return strings.Compare(restA, restB)
		}
		a, b = restA, restB
	}
}
