package convert

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// charset is the character encoding of a file.
type charset string

// The charsets. UTF-16 is converted to UTF-8 while reading; the others value by value, and only
// values that are not ASCII.
const (
	utf8Charset charset = "utf-8"
	windows1252 charset = "windows-1252"
	latin1      charset = "latin-1"
	utf16WithBO charset = "utf-16"
	latin9      charset = "iso-8859-15"
	latin2      charset = "iso-8859-2"
	windows1250 charset = "windows-1250"
	macintosh   charset = "macintosh"
	cp850       charset = "cp850"
	cp437       charset = "cp437"
)

// singleBytes are the charsets in which each byte is a character.
var singleBytes = map[charset]*charmap.Charmap{
	windows1252: charmap.Windows1252, windows1250: charmap.Windows1250, latin1: charmap.ISO8859_1, latin9: charmap.ISO8859_15, latin2: charmap.ISO8859_2,
	macintosh: charmap.Macintosh, cp850: charmap.CodePage850, cp437: charmap.CodePage437,
}

// charsets are the names allowed in a map.
var charsets = []string{
	string(utf8Charset), string(windows1252), string(latin1), string(utf16WithBO), string(latin9), string(latin2), string(windows1250), string(macintosh), string(cp850), string(cp437),
}

// multibyte reports whether a character can have several bytes.
func (c charset) multibyte() bool { return c == utf8Charset || c == utf16WithBO }

// plainASCII reports whether text is ASCII without NUL, and so the same in every charset.
func plainASCII(text []byte) bool {
	for len(text) >= 8 {
		word := binary.LittleEndian.Uint64(text)
		// The second half finds a zero byte.
		if word&0x8080808080808080 != 0 || (word-0x0101010101010101)&^word&0x8080808080808080 != 0 {
			return false
		}
		text = text[8:]
	}
	for _, c := range text {
		// Zero wraps around to 255, so one comparison finds both.
		if c-1 >= 0x7f {
			return false
		}
	}
	return true
}

// decode appends a value as UTF-8, or returns what is wrong with it.
func (c charset) decode(dst, text []byte) ([]byte, string) {
	// A NUL marks placeholders and separates the parts of keys.
	if bytes.Contains(text, []byte{0}) {
		return dst, "it contains a zero byte"
	}
	if table := singleBytes[c]; table != nil {
		for _, b := range text {
			// Undefined bytes and control characters reveal a wrong encoding.
			r := table.DecodeByte(b)
			if r == utf8.RuneError || 0x80 <= r && r < 0xa0 {
				return dst, fmt.Sprintf("byte 0x%02X is not a character of %s; is the encoding right?", b, c)
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, ""
	}
	// The decoder replaces what it cannot read.
	if c == utf16WithBO && bytes.ContainsRune(text, utf8.RuneError) {
		return dst, "it contains an invalid UTF-16 character"
	}
	if !utf8.Valid(text) {
		return dst, "it is not UTF-8; old systems often write windows-1252: see encoding"
	}
	for i := 1; i < len(text); i++ {
		if text[i-1] == 0xc2 && text[i] < 0xa0 {
			return dst, fmt.Sprintf("it contains the control character U+%04X; the text was probably read in a wrong encoding before", text[i])
		}
	}
	return append(dst, text...), ""
}

var (
	markUTF8  = []byte{0xef, 0xbb, 0xbf}
	markUTF16 = [2][]byte{{0xff, 0xfe}, {0xfe, 0xff}} // little and big endian
)

// reader returns the file without byte order mark, and as UTF-8 if it is UTF-16.
func (c charset) reader(file io.Reader) (io.Reader, error) {
	source := bufio.NewReaderSize(file, 64<<10)
	begin, _ := source.Peek(3) // a file may be shorter than a mark
	marked := bytes.HasPrefix(begin, markUTF16[0]) || bytes.HasPrefix(begin, markUTF16[1])
	switch {
	case c == utf16WithBO && !marked:
		// Whoever reads the header reports an empty table.
		if len(begin) == 0 {
			return source, nil
		}
		return nil, errors.New("it has no byte order mark, so it is not UTF-16; see encoding")
	case c == utf16WithBO:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(source), nil
	// As UTF-8 such a file would be refused value by value.
	case c == utf8Charset && marked:
		return nil, errors.New("it is UTF-16: set encoding: utf-16")
	case bytes.HasPrefix(begin, markUTF8) && c != utf8Charset:
		return nil, errors.New("it begins with the byte order mark of UTF-8: set encoding: utf-8")
	case bytes.HasPrefix(begin, markUTF8):
		_, _ = source.Discard(3)
	}
	return source, nil
}
