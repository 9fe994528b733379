package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// TestSharedIdentifiersOfABookAreFound seeds accounts that share supply points and payment
// instructions, in two files and a third for posted instructions. All must be found, also when
// almost nothing is sorted in memory.
func TestSharedIdentifiersOfABookAreFound(t *testing.T) {
	folder := t.TempDir()
	var first, second strings.Builder
	var want []string
	const count = 500
	for i := range count {
		out, point := &first, i
		if i >= count/2 {
			out = &second
		}
		if i%10 == 7 && i >= 50 { // the point of an earlier account
			point = i - 50
			if point%10 == 7 && point >= 50 {
				point = i
			}
		}
		fmt.Fprintf(out, `{"import_supplier":"N","external_account_number":"%d","customers":[{"family_name":"A"}],"supply_addresses":[{"supply_address1":"%d","supply_points":[`+
			`{"identifier":"%d","supply_type":"GAS","supply_start_date":"2020-01-01"}]}],"payment_instructions":[{"vendor":"V","reference":"r%d","type":"CARD"}]}`+"\n", i, i, point, i)
		if point != i {
			want = append(want, fmt.Sprintf("%d supply_point_on_another_account", i), fmt.Sprintf("%d supply_point_on_another_account", point))
		}
	}
	files := map[string]string{
		"accounts-1.ndjson": first.String(), "accounts-2.ndjson": second.String(),
		"payment-instructions.ndjson": `{"import_supplier":"N","external_account_number":"3","vendor":"V","reference":"r4","type":"CARD"}` + "\n",
	}
	want = append(want, "3 payment_instruction_on_another_account", "4 payment_instruction_on_another_account")
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for _, severity := range []landfall.Severity{landfall.SeverityWarning, landfall.SeverityError, landfall.SeverityOff} {
		for _, memory := range []int{sortMemory, 2000} {
			settings := landfall.NewSupplier("N")
			settings.Severities = map[string]landfall.Severity{contract.CodeSupplyPointElsewhere: severity, contract.CodeInstructionElsewhere: severity}
			var told []string
			reported := map[string]bool{}
			reader := Checker{Settings: settings, Now: time.Date(2026, time.July, 15, 9, 0, 0, 0, time.UTC), Progress: func(int) {}, sortLimit: memory,
				Mistake: func(m Mistake) error {
					at := m.File.At(m.Line.Number)
					if reported[at] {
						t.Errorf("%s is reported twice", at)
					}
					reported[at] = true
					if m.Wrong() && !strings.Contains(files[filepath.Base(m.File.Path)], string(m.Line.Text)+"\n") || m.Wrong() && !strings.Contains(string(m.Line.Text), `"`+m.External+`"`) {
						t.Errorf("%s has the text %s", at, m.Line.Text)
					}
					for _, violation := range append(m.Failure.Violations, m.Warnings...) {
						told = append(told, m.External+" "+violation.Code)
					}
					return nil
				}}
			result, err := reader.Check(t.Context(), found)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(told)
			told = slices.Compact(told)
			switch severity {
			case landfall.SeverityOff:
				if len(told) > 0 {
					t.Errorf("with the rules off: %v", told)
				}
			default:
				if !slices.Equal(told, want) {
					t.Errorf("%s, %d bytes: got %d %v, want %d %v", severity, memory, len(told), told, len(want), want)
				}
			}
			refused := result.tallies.Accounts(landfall.StatusFailed)
			if severity == landfall.SeverityError && refused != int64(result.Counts[book.Accounts].Wrong) || severity != landfall.SeverityError && refused != 0 {
				t.Errorf("%s: the totals have %d refused accounts, %d lines are wrong", severity, refused, result.Counts[book.Accounts].Wrong)
			}
			if result.Valid() == (severity == landfall.SeverityError) {
				t.Errorf("%s: valid is %v", severity, result.Valid())
			}
		}
	}
}
