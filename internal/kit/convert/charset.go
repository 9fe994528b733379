package convert

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// charset is how the characters of a file are written as bytes.
type charset string

// The charsets. UTF-16 becomes UTF-8 while it is read; the others are turned
// into it value by value, and only where a value is more than ASCII.
const (
	utf8Charset charset = "utf-8"
	windows1252 charset = "windows-1252"
	latin1      charset = "latin-1"
	utf16WithBO charset = "utf-16"
)

// charsets are the names a map may say.
var charsets = []string{string(utf8Charset), string(windows1252), string(latin1), string(utf16WithBO)}

// highOf1252 are the characters of 0x80 to 0x9f, which is where Windows-1252
// differs from Latin-1. Zero marks the five that it does not have.
var highOf1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// plainASCII reports whether bytes are the same in every charset, and none of
// them is NUL, which nothing on the way could keep.
func plainASCII(text []byte) bool {
	for len(text) >= 8 {
		word := binary.LittleEndian.Uint64(text)
		// The second half finds a zero byte, as is usual in such loops.
		if word&0x8080808080808080 != 0 || (word-0x0101010101010101)&^word&0x8080808080808080 != 0 {
			return false
		}
		text = text[8:]
	}
	for _, c := range text {
		// A zero wraps round to 255, so that one comparison finds it along with all
		// that is above ASCII.
		if c-1 >= 0x7f {
			return false
		}
	}
	return true
}

// decode appends a value as UTF-8, or says what is wrong with it.
func (c charset) decode(dst, text []byte) ([]byte, string) {
	// A NUL marks holes in half-made objects and stands between the parts of keys:
	// a value with one would be taken for either.
	if bytes.Contains(text, []byte{0}) {
		return dst, "it has a zero byte in it"
	}
	switch c {
	case windows1252, latin1:
		// Every byte is some character of Latin-1, so that a wrong encoding cannot
		// be noticed with it. Windows-1252 leaves a few bytes free, and those give
		// it away.
		for _, b := range text {
			r := rune(b)
			if c == windows1252 && b >= 0x80 && b < 0xa0 {
				if r = highOf1252[b-0x80]; r == 0 {
					return dst, fmt.Sprintf("byte 0x%02X is no character of windows-1252; is the encoding right?", b)
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, ""
	}
	if !utf8.Valid(text) {
		return dst, "it is not UTF-8; old systems often write windows-1252: see encoding"
	}
	return append(dst, text...), ""
}

var (
	markUTF8  = []byte{0xef, 0xbb, 0xbf}
	markUTF16 = [2][]byte{{0xff, 0xfe}, {0xfe, 0xff}} // little and big end first
)

// reader gives a file as the splitter reads it: without a byte order mark, and
// in UTF-8 where it was UTF-16.
func (c charset) reader(file io.Reader) (io.Reader, error) {
	source := bufio.NewReaderSize(file, 64<<10)
	// A file may be shorter than a mark; it is compared as far as it goes.
	begin, _ := source.Peek(3)
	little, big := bytes.HasPrefix(begin, markUTF16[0]), bytes.HasPrefix(begin, markUTF16[1])
	switch {
	case c == utf16WithBO && !little && !big:
		// An empty table has no mark either. Whoever reads its header says what is
		// wrong.
		if len(begin) == 0 {
			return source, nil
		}
		return nil, errors.New("it has no byte order mark, so it is not UTF-16 as old systems write it; see encoding")
	case c == utf16WithBO:
		_, _ = source.Discard(2)
		wide := &wideReader{source: source, order: binary.LittleEndian}
		if big {
			wide.order = binary.BigEndian
		}
		return wide, nil
	// Read as UTF-8 such a file would be refused value by value. Here one sentence
	// does.
	case c == utf8Charset && (little || big):
		return nil, errors.New("it is UTF-16: say encoding: utf-16")
	case bytes.HasPrefix(begin, markUTF8) && c != utf8Charset:
		return nil, errors.New("it begins with the mark of UTF-8: say encoding: utf-8")
	case bytes.HasPrefix(begin, markUTF8):
		_, _ = source.Discard(3)
	}
	return source, nil
}

// wideReader turns UTF-16 into UTF-8. Half a pair becomes the bytes of a lone
// surrogate, which are no UTF-8: the value it stands in is then reported.
type wideReader struct {
	source *bufio.Reader
	order  binary.ByteOrder
	ready  []byte
	begin  int
	ended  error
}

// Read gives what was turned already, and turns more when there is none.
func (w *wideReader) Read(into []byte) (int, error) {
	// Some callers give up on a reader that gives nothing and no error, so it goes
	// on until there is something, or the end.
	for w.begin == len(w.ready) {
		if w.ended != nil {
			return 0, w.ended
		}
		w.ready, w.begin = w.ready[:0], 0
		for len(w.ready) < 32<<10 && w.ended == nil {
			w.turn()
		}
	}
	n := copy(into, w.ready[w.begin:])
	w.begin += n
	return n, nil
}

// turn takes the next character.
func (w *wideReader) turn() {
	unit, err := w.unit()
	if err != nil {
		w.ended = err
		return
	}
	r := rune(unit)
	if utf16.IsSurrogate(r) {
		// The next unit is only looked at: if it does not complete the pair it is a
		// character of its own, and must be read as one.
		if next, err := w.source.Peek(2); err == nil {
			if pair := utf16.DecodeRune(r, rune(w.order.Uint16(next))); pair != utf8.RuneError {
				_, _ = w.source.Discard(2)
				w.ready = utf8.AppendRune(w.ready, pair)
				return
			}
		}
		w.ready = append(w.ready, 0xed, 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
		return
	}
	w.ready = utf8.AppendRune(w.ready, r)
}

// unit reads two bytes as one number, in the order the file began with.
func (w *wideReader) unit() (uint16, error) {
	var two [2]byte
	if _, err := io.ReadFull(w.source, two[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends in the middle of a character of UTF-16")
		}
		return 0, err
	}
	return w.order.Uint16(two[:]), nil
}
