package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/lib/limits"
)

// largePack has objects inside each other, each with many fields and as many rules as
// an object may have.
func largePack(objects, fields int) string {
	var text strings.Builder
	text.WriteString("pack: large\nversion: 1\nadd:\n  Account: {level_0: list of Level0}\nobjects:\n")
	for level := range objects {
		fmt.Fprintf(&text, "  Level%d:\n    fields:\n", level)
		for i := range fields {
			fmt.Fprintf(&text, "      f%d: line\n", i)
		}
		if level+1 < objects {
			fmt.Fprintf(&text, "      level_%d: list of Level%d\n", level+1, level+1)
		}
	}
	names := make([]string, limits.PackRuleFields)
	for i := range names {
		names[i] = fmt.Sprint("f", i)
	}
	text.WriteString("rules:\n")
	for i := range limits.PackRules {
		if level := i / limits.PackObjectRules; level < objects {
			fmt.Fprintf(&text, "  - {code: rule_%d, kind: exclusive, object: Level%d, fields: [%s], description: No.}\n", i, level, strings.Join(names, ", "))
		}
	}
	return text.String()
}

// allocations counts what a function allocates.
func allocations(do func()) float64 { return testing.AllocsPerRun(3, do) }

// Twice as much costs twice as much, for a pack as for an account.
func TestLargePacksCostInProportion(t *testing.T) {
	read := func(objects int) func() {
		text := []byte(largePack(objects, 100))
		return func() {
			one, err := pack.Read(text)
			if err == nil {
				_, err = contract.NewSchema(one)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if small, large := allocations(read(5)), allocations(read(10)); large > 2.2*small {
		t.Errorf("%.0f allocations for a pack, %.0f for one twice as large", small, large)
	}
	one, err := pack.Read([]byte(largePack(10, 100)))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := contract.NewSchema(one)
	if err != nil {
		t.Fatal(err)
	}
	supplier := landfall.NewSupplier("S")
	check := func(items, depth int) func() {
		inner := `{"f0":"a text that is long enough"}`
		for level := depth - 1; level > 0; level-- {
			inner = fmt.Sprintf(`{"f1":"a text that is long enough","level_%d":[%s]}`, level, inner)
		}
		body := []byte(withFields(`,"level_0":[` + strings.TrimSuffix(strings.Repeat(inner+",", items), ",") + `]`))
		return func() {
			account, err := schema.ReadAccount(t.Context(), body)
			if err != nil {
				t.Fatal(err)
			}
			if found := account.Check(&supplier, time.Now()).Errors; len(found) > 0 {
				t.Fatal(found)
			}
		}
	}
	for _, size := range [][2]int{{2000, 1}, {200, 10}} {
		small, large := allocations(check(size[0], size[1])), allocations(check(2*size[0], size[1]))
		if large > 2.2*small {
			t.Errorf("%d items, %d deep: %.0f allocations, twice as many: %.0f", size[0], size[1], small, large)
		}
	}
}
