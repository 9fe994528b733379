package accountview_test

import (
	"strings"
	"testing"

	"landfall/internal/console/accountview"
)

func TestMasks(t *testing.T) {
	for _, c := range []struct {
		mask         func(string) string
		text, masked string
	}{
		{accountview.MaskName, "Ada Lovelace", "A•• L•••••••"},
		{accountview.MaskName, "", ""},
		{accountview.MaskName, "  Zoë  (Q) ", "Z•• •••"},
		{accountview.MaskName, "Ö", "Ö"},
		{accountview.MaskName, strings.Repeat("x", 4000), "x••••••••••••"},
		{accountview.MaskEmail, "ada@mail.co.uk", "•••@mail.co.uk"},
		{accountview.MaskEmail, `"a@b"@mail.co.uk`, "•••@mail.co.uk"},
		{accountview.MaskEmail, "ada", "•••"},
		{accountview.MaskEmail, "", ""},
		{accountview.MaskPhone, "+447400123456", "•••••• 56"},
		{accountview.MaskPhone, "12", "•••"},
		{accountview.MaskAll, "SW1Y 4JH", "•••"},
		{accountview.MaskAll, "", ""},
	} {
		if got := c.mask(c.text); got != c.masked {
			t.Errorf("%.20q is masked as %q, want %q", c.text, got, c.masked)
		}
	}
}
