package console

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// qrMargin is the white border that readers of QR codes need, in modules.
const qrMargin = 4

// qrCode draws a text as a QR code. It is an image inside the page, because the
// content security policy allows no data: addresses and the text may be a secret.
func qrCode(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	var dark strings.Builder
	bounds := code.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if red, _, _, _ := code.At(x, y).RGBA(); red == 0 {
				fmt.Fprintf(&dark, "M%d %dh1v1h-1z", x+qrMargin, y+qrMargin)
			}
		}
	}
	size := bounds.Dx() + 2*qrMargin
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and an escaped label
		`<svg class="qr" viewBox="0 0 %d %d" role="img" aria-label="%s" shape-rendering="crispEdges"><rect width="%d" height="%d" fill="#fff"/><path d="%s" fill="#000"/></svg>`,
		size, size, template.HTMLEscapeString(label), size, size, dark.String())), nil
}
