package rules

import "testing"

func TestAppend(t *testing.T) {
	dst := []byte{'{'}
	dst = AppendText(dst, "a", "<b>&\"\\\n\x01\u2028")
	dst = append(AppendName(dst, "list"), '[')
	dst = AppendString(AppendComma(dst), "1")
	dst = AppendString(AppendComma(dst), "é😀")
	dst = append(dst, "]}"...)
	const want = `{"a":"\u003cb\u003e\u0026\"\\\n\u0001\u2028","list":["1","é😀"]}`
	if string(dst) != want {
		t.Errorf("got %s, want %s", dst, want)
	}
}
