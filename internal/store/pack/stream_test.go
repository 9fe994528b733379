package pack_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"landfall/internal/store/pack"
)

// packedStream packs a text in each encoding.
func packedStream(t *testing.T, text string) map[string][]byte {
	t.Helper()
	var zipped, other bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	packer, err := zstd.NewWriter(&other)
	if err != nil {
		t.Fatal(err)
	}
	for _, into := range []io.WriteCloser{writer, packer} {
		if _, err := io.WriteString(into, text); err != nil || into.Close() != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{pack.Gzip: zipped.Bytes(), pack.Zstd: other.Bytes()}
}

func TestStreamsAreUnpackedWhileTheyArrive(t *testing.T) {
	text := strings.Repeat("one line of many\n", 10_000)
	for encoding, body := range packedStream(t, text) {
		reader := pack.NewReader(encoding, iotest.OneByteReader(bytes.NewReader(append(body, body...))))
		got, err := io.ReadAll(reader)
		reader.Close()
		if err != nil || string(got) != text+text {
			t.Errorf("%s: %d bytes, %v", encoding, len(got), err)
		}
	}
}

// A truncated stream, an invalid one, one with bytes behind its end, one that
// expands too much and one that asks for too much memory have different errors.
func TestStreamsThatCannotBeUnpacked(t *testing.T) {
	gone := errors.New("the line is dead")
	for encoding, body := range packedStream(t, strings.Repeat("a little of everything ", 5_000)) {
		half := body[:len(body)/2]
		for name, c := range map[string]struct {
			source io.Reader
			want   error
		}{
			"half of it":    {bytes.NewReader(half), pack.ErrTruncated},
			"a dead line":   {io.MultiReader(bytes.NewReader(half), iotest.ErrReader(gone)), gone},
			"other bytes":   {strings.NewReader("this is not packed at all"), pack.ErrBroken},
			"few bytes":     {strings.NewReader("not gzip"), pack.ErrBroken},
			"junk behind":   {io.MultiReader(bytes.NewReader(body), strings.NewReader("junk behind it")), pack.ErrTrailing},
			"a byte behind": {io.MultiReader(bytes.NewReader(body), strings.NewReader("\n")), map[string]error{pack.Gzip: pack.ErrTrailing, pack.Zstd: pack.ErrTruncated}[encoding]},
			"other's form":  {bytes.NewReader(packedStream(t, "x")[map[string]string{pack.Gzip: pack.Zstd, pack.Zstd: pack.Gzip}[encoding]]), pack.ErrBroken},
		} {
			reader := pack.NewReader(encoding, c.source)
			if _, err := io.Copy(io.Discard, reader); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: got %v, want %v", encoding, name, err, c.want)
			}
			reader.Close()
		}
	}
	var wide bytes.Buffer
	writer, err := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	reader := pack.NewReader(pack.Zstd, &wide)
	if n, err := io.Copy(io.Discard, reader); n != 0 || !errors.Is(err, pack.ErrWindow) {
		t.Errorf("a window of 16 MiB: %d bytes, %v", n, err)
	}
	reader.Close()
	for encoding, body := range packedStream(t, strings.Repeat(" ", 64<<20)) {
		reader := pack.NewReader(encoding, bytes.NewReader(body))
		if n, err := io.Copy(io.Discard, reader); !errors.Is(err, pack.ErrRatio) || n > 40<<20 {
			t.Errorf("%s: %d bytes became %d, %v", encoding, len(body), n, err)
		}
		reader.Close()
	}
}
