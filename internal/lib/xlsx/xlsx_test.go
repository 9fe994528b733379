package xlsx

import (
	"math"
	"testing"
)

func TestNumbersKeepFifteenDigits(t *testing.T) {
	for stored, want := range map[string]string{
		"29.649999999999999": "29.65", "0.30000000000000004": "0.3", "-12.5": "-12.5", "1234567890123": "1234567890123", "1.06257E+12": "1062570000000",
		"0.1": "0.1", "100": "100", "1E-3": "0.001", "12345678901234567890": "12345678901234567890",
	} {
		cell, err := (&Workbook{}).convert("", "", stored)
		if err != nil || cell.Kind != Number || cell.Text != want {
			t.Errorf("%s is %+v (%v), want %s", stored, cell, err, want)
		}
	}
}

func TestNumbersAreDatesByTheirStyle(t *testing.T) {
	for _, one := range []struct {
		from1904 bool
		number   float64
		style    styleKind
		want     string
	}{
		{false, 1, dayStyle, "1900-01-01"},
		{false, 59, dayStyle, "1900-02-28"},
		{false, 61, dayStyle, "1900-03-01"},
		{false, 45292, dayStyle, "2024-01-01"},
		{false, 45292.5, dayStyle, "2024-01-01"},
		{false, 45292.5, dayAndClockStyle, "2024-01-01 12:00:00"},
		{false, 45292, dayAndClockStyle, "2024-01-01"},
		{false, 0.75, clockStyle, "18:00:00"},
		{false, lastDay, dayStyle, "9999-12-31"},
		{true, 0, dayStyle, "1904-01-01"},
		{true, 43830, dayStyle, "2024-01-01"},
		{true, lastDay - 1462, dayStyle, "9999-12-31"},
	} {
		w := &Workbook{from1904: one.from1904}
		if cell := w.date(one.number, one.style); cell.Kind != Date || cell.Text != one.want {
			t.Errorf("%v is %+v, want %s", one.number, cell, one.want)
		}
	}
	for number, want := range map[float64]string{0.5: "12:00:00", 1.5: "36:00:00", -0.0625: "-1:30:00", 45292.25: "1087014:00:00"} {
		if cell := (&Workbook{}).date(number, durationStyle); cell.Kind != Text || cell.Text != want {
			t.Errorf("%v is %+v, want %s", number, cell, want)
		}
	}
	// The leap day of 1900 never was.
	for _, number := range []float64{-1, 0, 60, 60.5, lastDay + 1, math.MaxInt32} {
		if cell := (&Workbook{}).date(number, dayStyle); cell.Kind != Error {
			t.Errorf("%v is %+v", number, cell)
		}
	}
}

func TestStylesOfDates(t *testing.T) {
	for code, want := range map[string]styleKind{
		"dd/mm/yyyy": dayStyle, "yyyy-mm-dd hh:mm:ss": dayAndClockStyle, `d"."m"."yy;@`: dayStyle, "[$-F800]dddd, mmmm dd, yyyy": dayStyle, "mmm-yy": dayStyle,
		"h:mm AM/PM": clockStyle, "[h]:mm:ss": durationStyle, "[mm]:ss": durationStyle, "mm:ss": clockStyle, "General": numberStyle, "0.00": numberStyle, "#,##0.00 [$€-407]": numberStyle,
		`"day" 0`: numberStyle, `0.00\d`: numberStyle, `#,##0;[Red]-#,##0`: numberStyle, "[Red]0.00": numberStyle, "@": numberStyle, "0.00E+00": numberStyle,
	} {
		if got := kindOfCode(code); got != want {
			t.Errorf("%s is %d, want %d", code, got, want)
		}
	}
}

func TestEscapedCharacters(t *testing.T) {
	for text, want := range map[string]string{"a_x000D_b": "a\rb", "_x0041_": "A", "_xZZZZ_": "_xZZZZ_", "a_x": "a_x", "_x004": "_x004", "x_x000D_\ny": "x\ny"} {
		if got := unescape(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add("a_x000D_b_x00")
	f.Fuzz(func(_ *testing.T, text string) { unescape(text) })
}
