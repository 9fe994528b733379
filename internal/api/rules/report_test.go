package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRulesAndShapeShareOneOrder(t *testing.T) {
	doc, fault := thing.Read([]byte(`{"day":"?","part":{"id":"1"},"name":"x","flag":7}`), Limits{})
	if fault != nil {
		t.Fatal(fault)
	}
	root, report := doc.Root(), doc.Report()
	report.AddField(root, "amount", "c6", "") // absent: at the end of the object
	report.AddField(root, "name", "c4", "")   // present: at its position
	report.AddField(root.Field("part"), "any", "c3", "")
	report.Add(root.Field("part"), "c2", "")
	report.Add(root, "c1", "")
	report.Add(root.Field("flag"), "c5", "")
	report.Warn(root.Field("name"), "w2", "")
	report.WarnField(root.Field("part"), "any", "w1", "")

	var errors, warnings []string
	for _, v := range report.Errors() {
		errors = append(errors, v.Code+" "+v.Attr)
	}
	for _, v := range report.Warnings() {
		warnings = append(warnings, v.Code+" "+v.Attr)
	}
	if diff := cmp.Diff([]string{"c1 ", "invalid_date day", "c2 part", "c3 part.any", "c4 name", "invalid_type flag", "c5 flag", "c6 amount"}, errors); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"w1 part.any", "w2 name"}, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestWarningsDoNotRefuse(t *testing.T) {
	doc, _ := thing.Read([]byte(`{"name":"x"}`), Limits{})
	doc.Report().Warn(doc.Root(), "w", "")
	if doc.Report().Failed() {
		t.Error("a warning refuses the document")
	}
	doc.Report().Add(doc.Root(), "e", "")
	if !doc.Report().Failed() {
		t.Error("an error does not refuse the document")
	}
}

func TestAtMostAHundredErrors(t *testing.T) {
	for _, n := range []int{99, 100, 101, 100_000} {
		doc, fault := thing.Read([]byte(`{"name":"x"`+unknownMembers(n)+`}`), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		errors := doc.Report().Errors()
		last := errors[len(errors)-1]
		if n <= 100 && (len(errors) != n || last.Code == CodeTooManyErrors) {
			t.Errorf("%d errors gave %d", n, len(errors))
		}
		if n > 100 && (len(errors) != 101 || last.Code != CodeTooManyErrors) {
			t.Errorf("%d errors gave %d, the last %s", n, len(errors), last.Code)
		}
	}
}

// A violation at the beginning of the document must come first even if a rule
// finds it after the reader found a hundred problems further on.
func TestFirstHundredErrorsAreInDocumentOrder(t *testing.T) {
	doc, _ := thing.Read([]byte(`{"name":"x"`+unknownMembers(200)+`}`), Limits{})
	doc.Report().Add(doc.Root().Field("name"), "first", "")
	if got := doc.Report().Errors(); got[0].Code != "first" || len(got) != 101 {
		t.Errorf("got %s first of %d", got[0].Code, len(got))
	}
}

func unknownMembers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"` + plural(i, "name that nobody knows") + `":0`)
	}
	return b.String()
}

func TestLargeListsBuildFewNodes(t *testing.T) {
	body := []byte(`{"name":"x","words":["a"` + strings.Repeat(`,"a"`, 1_000_000) + `]}`)
	var doc *Document
	allocated := testing.AllocsPerRun(1, func() { doc, _ = thing.Read(body, Limits{}) })
	if got := len(doc.Root().Field("words").Items()); got != 2 || allocated > 100 {
		t.Errorf("%d items and %.0f allocations", got, allocated)
	}
	if got := doc.Report().Errors(); len(got) != 1 || got[0].Code != CodeMaxItems {
		t.Error(got)
	}
}
