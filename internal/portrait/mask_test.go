package portrait_test

import (
	"strings"
	"testing"

	"landfall/internal/portrait"
)

func TestMasksShowNoMoreThanTheySay(t *testing.T) {
	for _, c := range []struct {
		mask         func(string) string
		text, masked string
	}{
		{portrait.MaskName, "Ada Lovelace", "A•• L•••••••"},
		{portrait.MaskName, "", ""},
		{portrait.MaskName, "  Zoë  (Q) ", "Z•• •••"},
		{portrait.MaskName, "Ö", "Ö"},
		{portrait.MaskName, strings.Repeat("x", 4000), "x••••••••••••"},
		{portrait.MaskEmail, "ada@mail.co.uk", "•••@mail.co.uk"},
		{portrait.MaskEmail, `"a@b"@mail.co.uk`, "•••@mail.co.uk"},
		{portrait.MaskEmail, "ada", "•••"},
		{portrait.MaskEmail, "", ""},
		{portrait.MaskPhone, "+447400123456", "•••••• 56"},
		{portrait.MaskPhone, "12", "•••"},
		{portrait.MaskAll, "SW1Y 4JH", "•••"},
		{portrait.MaskAll, "", ""},
	} {
		if got := c.mask(c.text); got != c.masked {
			t.Errorf("%.20q is masked as %q, want %q", c.text, got, c.masked)
		}
	}
}
