package contract

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"landfall"
)

// filled repeats part between before and after until the body has about the given
// size.
func filled(size int, before, part, after string) []byte {
	count := (size - len(before) - len(after)) / (len(part) + 1)
	return []byte(before + strings.Repeat(part+",", count-1) + part + after)
}

// hostile returns bodies that contain as many values as possible and hardly any
// content.
func hostile(size int) map[string][]byte {
	const head = `{"import_supplier":"S","external_account_number":"1","customers":[{}],`
	points := strings.Repeat(`{},`, 99) + `{}`
	var unknown strings.Builder
	unknown.WriteString(head)
	for i := 0; unknown.Len() < size; i++ {
		fmt.Fprintf(&unknown, `"%x":1,`, i)
	}
	unknown.WriteString(`"metadata":[]}`)
	return map[string][]byte{
		"lists of nothing":              filled(size, head+`"metadata":[{"key":"k","value":[`, `[]`, `]}]}`),
		"customers of nothing":          filled(size, `{"import_supplier":"S","external_account_number":"1","customers":[`, `{}`, `]}`),
		"tiny notes":                    filled(size, head+`"notes":[`, `{"body":""}`, `]}`),
		"supply points of nothing":      filled(size, head+`"supply_addresses":[`, `{"supply_points":[`+points+`]}`, `]}`),
		"registers of nothing":          filled(size, head+`"supply_addresses":[{"supply_points":[{"meters":[`, `{"registers":[`+points[:149]+`]}`, `]}]}]}`),
		"readings of nothing":           filled(size, head+`"supply_addresses":[`, `{"supply_points":[{"meters":[{"registers":[{"transfer_readings":[`+strings.Repeat(`{},`, 999)+`{}]}]}]}]}`, `]}`),
		"one path and no more":          filled(size, head+`"notes":[{"document_paths":[`, `{"document_path":"a"}`, `]}]}`),
		"short paths, a hundred a note": filled(size, head+`"notes":[`, `{"document_paths":[`+strings.Repeat(`{"document_path":"a.pdf"},`, 99)+`{"document_path":"a.pdf"}]}`, `]}`),
		"unknown fields":                []byte(unknown.String()),
		"names in metadata":             []byte(strings.Replace(unknown.String(), head, head+`"metadata":[{"key":"k","value":{`, 1)[:size] + `":1}}]}`),
		"honest transactions":           filled(size, head+`"current_statement_transactions":[`, `{"transaction_id":"A1","transaction_date":"2025-03-01","amount":10,"type":"PAYMENT"}`, `]}`),
		"honest readings":               filled(size, head+`"supply_addresses":[`, `{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01","meters":[{"serial_number":"1","registers":[{"register_id":"1","transfer_readings":[{"reading_date":"2020-01-01","reading_type":"SMART","reading_value":1}]}]}]}]}`, `]}`),
	}
}

// Reading a body of 10 MiB used to take half a gigabyte: a node for every value
// and a slot for every field of every table. Including the body itself, it now
// takes at most eight times its size, however little it contains.
func TestReadingTakesAtMostEightTimesTheBody(t *testing.T) {
	const size = 4 << 20
	// Garbage collection is off, so that the bytes allocated are an upper bound on
	// the memory in use.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, body := range hostile(size) {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		account, err := ReadAccount(t.Context(), body)
		var verdict Verdict
		if err == nil {
			verdict = account.Check(testSupplier(), testNow)
		}
		runtime.ReadMemStats(&after)
		held := len(body) + int(after.TotalAlloc-before.TotalAlloc)
		if limit := 8 * len(body); held > limit {
			t.Errorf("%s: %.1f times the body", name, float64(held)/float64(len(body)))
		}
		t.Logf("%s: %.1f times the body (%v, %d errors)", name, float64(held)/float64(len(body)), err, len(verdict.Errors))
		runtime.KeepAlive(account)
	}
}

func TestTooManyValuesHaveTheirOwnCode(t *testing.T) {
	body := hostile(1 << 20)["readings of nothing"]
	_, err := ReadAccount(t.Context(), body)
	refusal, _ := errors.AsType[*landfall.Error](err)
	if refusal == nil || refusal.Code != landfall.CodeAccountFailedValidation || len(refusal.Violations) != 1 ||
		refusal.Violations[0].Code != "max_items" || !strings.HasPrefix(refusal.Violations[0].Attr, "supply_addresses.") {
		t.Errorf("got %+v", refusal)
	}
}
