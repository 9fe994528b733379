package rules

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// canonicalWriter writes the canonical form of plain JSON in one pass. It gives up
// at everything that is rare or wrong: names with escapes or letters outside ASCII,
// members that occur twice, deep values, broken JSON.
type canonicalWriter struct {
	text    string
	traits  // of the text
	at      int
	out     []byte
	members []canonicalMember // of all objects that are open
	sorted  []byte
}

// canonicalMember is a member that was written. It has no pointers, so that sorting
// it is cheap.
type canonicalMember struct {
	prefix   uint64 // the first letters of the name, which nearly always decide the order
	name     int    // how long the name is
	from, to int    // where in out
}

// compare orders two members by their names.
func (w *canonicalWriter) compare(a, b *canonicalMember) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return bytes.Compare(w.nameOf(a), w.nameOf(b))
}

// nameOf returns the name of a member, which follows a quote.
func (w *canonicalWriter) nameOf(m *canonicalMember) []byte {
	return w.out[m.from+1:][:m.name]
}

// prefixOf returns the first eight letters of a name as a number of the same order.
func prefixOf(name string) (prefix uint64) {
	if len(name) >= 8 {
		return bits.ReverseBytes64(loadWord(name, 0))
	}
	for i := range len(name) {
		prefix |= uint64(name[i]) << (56 - 8*i)
	}
	return prefix
}

var canonicalWriters = sync.Pool{New: func() any { return new(canonicalWriter) }}

// Larger buffers are not kept for the next value.
const (
	keptMembersSize = 1 << 10
	keptBufferSize  = 1 << 20
)

// appendPlainCanonical appends the canonical form of a value, or reports that it
// has to be written by other means.
func appendPlainCanonical(dst []byte, value string) ([]byte, bool) {
	is := scanTraits(value)
	if !is.ascii && !utf8.ValidString(value) {
		return dst, false
	}
	w := canonicalWriters.Get().(*canonicalWriter) //nolint:forcetypeassert // the pool makes nothing else
	w.text, w.traits, w.at, w.out = value, is, 0, dst
	done := w.value(0) && w.peek() == 0 && w.at == len(value)
	written := w.out
	if w.text, w.out = "", nil; cap(w.members) <= keptMembersSize && cap(w.sorted) <= keptBufferSize {
		w.members = w.members[:0]
		canonicalWriters.Put(w)
	}
	if !done {
		return dst, false
	}
	return written, true
}

// peek skips white space and returns the next byte, or 0 at the end.
func (w *canonicalWriter) peek() byte {
	for ; w.at < len(w.text); w.at++ {
		if c := w.text[w.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// value writes the next value.
func (w *canonicalWriter) value(depth int) bool {
	if depth > maxFastDepth {
		return false
	}
	switch c := w.peek(); c {
	case '{':
		return w.object(depth)
	case '[':
		return w.list(depth)
	case '"':
		return w.string()
	case 't':
		return w.literal("true")
	case 'f':
		return w.literal("false")
	case 'n':
		return w.literal("null")
	default:
		return (c == '-' || c >= '0' && c <= '9') && w.number()
	}
}

func (w *canonicalWriter) literal(word string) bool {
	if !strings.HasPrefix(w.text[w.at:], word) {
		return false
	}
	w.at += len(word)
	w.out = append(w.out, word...)
	return true
}

// object writes the members in the order of the value and then sorts them.
func (w *canonicalWriter) object(depth int) bool {
	w.at++
	w.out = append(w.out, '{')
	first, start, ordered := len(w.members), len(w.out), true
	for next := w.peek(); next != '}'; next = w.peek() {
		if len(w.members) > first {
			if next != ',' {
				return false
			}
			w.at++
			w.out = append(w.out, ',')
			next = w.peek()
		}
		if next != '"' {
			return false
		}
		from, quote := len(w.out), w.at
		name, plain := w.name()
		w.out = append(w.out, w.text[quote:w.at]...)
		if !plain || w.peek() != ':' {
			return false
		}
		w.at++
		w.out = append(w.out, ':')
		// Values append their own members, so this one comes first.
		at := len(w.members)
		w.members = append(w.members, canonicalMember{prefix: prefixOf(name), name: len(name), from: from})
		if ordered && at > first {
			ordered = w.compare(&w.members[at-1], &w.members[at]) < 0
		}
		if !w.value(depth + 1) {
			return false
		}
		w.members[at].to = len(w.out)
	}
	w.at++
	if !ordered && !w.sort(w.members[first:], start) {
		return false
	}
	w.members = w.members[:first]
	w.out = append(w.out, '}')
	return true
}

// sort orders the members of an object, which were written from start on. It reports
// false if two have one name.
func (w *canonicalWriter) sort(members []canonicalMember, start int) bool {
	// Few are sorted fastest by insertion.
	if len(members) > 40 {
		slices.SortFunc(members, func(a, b canonicalMember) int { return w.compare(&a, &b) })
	} else {
		for i := 1; i < len(members); i++ {
			at, one := i, members[i]
			for ; at > 0 && w.compare(&members[at-1], &one) > 0; at-- {
				members[at] = members[at-1]
			}
			members[at] = one
		}
	}
	w.sorted = w.sorted[:0]
	for i, member := range members {
		if i > 0 {
			if w.compare(&members[i-1], &members[i]) == 0 {
				return false
			}
			w.sorted = append(w.sorted, ',')
		}
		w.sorted = append(w.sorted, w.out[member.from:member.to]...)
	}
	copy(w.out[start:], w.sorted)
	return true
}

func (w *canonicalWriter) list(depth int) bool {
	w.at++
	w.out = append(w.out, '[')
	for first := true; ; first = false {
		next := w.peek()
		if next == ']' {
			break
		}
		if !first {
			if next != ',' {
				return false
			}
			w.at++
			w.out = append(w.out, ',')
		}
		if !w.value(depth + 1) {
			return false
		}
	}
	w.at++
	w.out = append(w.out, ']')
	return true
}

// name reads a name without escapes that is ASCII: only then the order of its bytes
// is the order that RFC 8785 wants.
func (w *canonicalWriter) name() (string, bool) {
	length := indexQuote(w.text[w.at+1:])
	if length < 0 {
		return "", false
	}
	name := w.text[w.at+1 : w.at+1+length]
	if (!w.ascii || !w.noEscapes || !w.noControls) && scanTraits(name) != (traits{true, true, true}) {
		return "", false
	}
	w.at += length + 2
	return name, true
}

// string writes a string.
func (w *canonicalWriter) string() bool {
	from := w.at
	end := from + 1
	for {
		length := indexQuote(w.text[end:])
		if length < 0 {
			return false
		}
		if end += length; w.noEscapes || !escaped(w.text[from+1:end]) {
			break
		}
		end++
	}
	w.at = end + 1
	raw := w.text[from:w.at]
	if w.noEscapes || strings.IndexByte(raw, '\\') < 0 {
		if !w.noControls && !scanTraits(raw).noControls {
			return false
		}
		w.out = append(w.out, raw...)
		return true
	}
	return w.other(raw)
}

// escaped reports whether text ends with an odd number of backslashes.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// number writes a number. One with at most 15 digits is the shortest form of its
// double, but for zeros that say nothing.
func (w *canonicalWriter) number() bool {
	const exact = 15
	from := w.at
	if w.at = numberEnd(w.text, from); w.at < 0 {
		return false
	}
	raw := w.text[from:w.at]
	whole, fraction, _ := strings.Cut(raw, ".")
	switch {
	case len(raw) > exact, strings.ContainsAny(raw, "eE"), strings.HasPrefix(raw, "-0"), whole == "0" && strings.HasPrefix(fraction, "00000"):
		return w.other(raw)
	}
	w.out = append(w.out, whole...)
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		w.out = append(append(w.out, '.'), fraction...)
	}
	return true
}

// other writes a string or number that needs more than copying.
func (w *canonicalWriter) other(raw string) bool {
	form := jsontext.Value(raw)
	if form.Canonicalize() != nil {
		return false
	}
	w.out = append(w.out, form...)
	return true
}
