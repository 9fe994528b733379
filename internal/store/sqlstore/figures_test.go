package sqlstore

import (
	"testing"

	"pgregory.net/rapid"

	"landfall"
)

// TestFiguresRoundTrip writes figures and reads them back, also those written
// with explicit zeros.
func TestFiguresRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := landfall.Figures{Currency: rapid.SampledFrom([]string{"", "GBP"}).Draw(t, "currency")}
		for _, number := range figures.Numbers() {
			*number = rapid.SampledFrom([]int64{0, 0, 0, 1, -1, 1 << 60}).Draw(t, "number")
		}
		text := figuresText(figures)
		if back, err := readFigures(text); err != nil || back != figures {
			t.Fatalf("%q is %+v, %v", text, back, err)
		}
	})
	back, err := readFigures("GBP 1 0 2 0 0 0 790")
	want := landfall.Figures{Currency: "GBP", Accounts: 1, SupplyPoints: 2, Balance: 790}
	if err != nil || back != want {
		t.Errorf("got %+v, %v", back, err)
	}
	if _, err := readFigures("GBP 1 x"); err == nil {
		t.Error("x was accepted as a number")
	}
}
