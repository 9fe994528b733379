package yamltree_test

import (
	"strings"
	"testing"

	"landfall/internal/lib/yamltree"
)

func TestLinesAndKinds(t *testing.T) {
	root, err := yamltree.Read(strings.NewReader("a: 1\nb:\n  - x\n  - 'y'\nc: ~\nd: &d {e: f}\ng: *d\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := root.Find("b")
	switch {
	case root.Kind != yamltree.Mapping || len(root.Members) != 5 || root.Members[1].Line != 2:
		t.Errorf("the root is %+v", root)
	case b.Kind != yamltree.List || b.Items[1].Text != "y" || b.Items[1].Line != 4 || !b.Items[1].Quoted || b.Items[0].Quoted:
		t.Errorf("b is %+v", b)
	case root.Find("c").Kind != yamltree.Null || root.Find("x") != nil:
		t.Error("c is something")
	case root.Find("g").Find("e").Text != "f" || root.Find("a").Text != "1":
		t.Error("a reference was not followed")
	}
	if nothing, err := yamltree.Read(strings.NewReader("# only a remark\n")); err != nil || nothing.Kind != yamltree.Null {
		t.Errorf("nothing is %+v, %v", nothing, err)
	}
}

func TestRefusedDocuments(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 7 {
		last := string(rune('0' + i))
		bomb += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [*a" + last + strings.Repeat(", *a"+last, 9) + "]\n"
	}
	for want, text := range map[string]string{
		"line 3: a is already in line 1": "a: 1\nb: 2\na: 3\n",
		"contains itself":                "a: &a\n  b: *a\n",
		"once its references":            bomb,
		"more than one document":         "a: 1\n---\nb: 2\n",
		"did not find":                   "a: [1\nb: 2\n",
		"plain text":                     "? [a]\n: 1\n",
	} {
		if _, err := yamltree.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
