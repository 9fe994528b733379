package convert

import (
	"bytes"
	"regexp"
)

// columnText reads a column.
func columnText(column int, trim bool) func(*currentRow) []byte {
	if !trim {
		return func(r *currentRow) []byte { return r.value(column, false) }
	}
	return func(r *currentRow) []byte { return r.value(column, true) }
}

// constantText is the same for every row.
func constantText(text string) func(*currentRow) []byte {
	fixed := []byte(text)
	return func(*currentRow) []byte { return fixed }
}

// joinedText joins the parts that are not empty.
func joinedText(parts []*expression, between string) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		var first []byte
		var joined []byte
		count := 0
		for _, part := range parts {
			text := part.get(r)
			if len(text) == 0 {
				continue
			}
			if count++; count == 1 {
				first = text
				continue
			}
			if count == 2 {
				joined = append(joined, first...)
			}
			joined = append(append(joined, between...), text...)
		}
		if count < 2 {
			return first
		}
		return joined
	}
}

// firstText returns the first part that is not empty.
func firstText(parts []*expression) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		for _, one := range parts {
			if text := one.get(r); len(text) > 0 {
				return text
			}
		}
		return nil
	}
}

// partText returns the nth part between separators, counted from the end if negative.
func partText(of func(*currentRow) []byte, at string, part int) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		text := of(r)
		if part > 0 {
			for range part - 1 {
				_, rest, more := bytes.Cut(text, []byte(at))
				if !more {
					return nil
				}
				text = rest
			}
			text, _, _ = bytes.Cut(text, []byte(at))
			return trimBlanks(text)
		}
		pieces := bytes.Split(text, []byte(at))
		if len(pieces) < -part {
			return nil
		}
		return trimBlanks(pieces[len(pieces)+part])
	}
}

// strippedText removes leading characters, such as zeros. Of zeros alone one is kept.
func strippedText(of func(*currentRow) []byte, leading string) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		text := of(r)
		rest := bytes.TrimLeft(text, leading)
		if len(rest) == 0 && bytes.HasSuffix(text, []byte{'0'}) {
			return text[len(text)-1:]
		}
		return rest
	}
}

// casedText changes the case.
func casedText(of func(*currentRow) []byte, change func([]byte) []byte) func(*currentRow) []byte {
	return func(r *currentRow) []byte { return change(of(r)) }
}

// translatedText translates a text. A text without a translation is an error, unless the map says
// what to do.
func translatedText(of func(*currentRow) []byte, column int, table map[string]string, otherwise *string, keep bool) func(*currentRow) []byte {
	translated := make(map[string][]byte, len(table))
	var letters [256][]byte // one-letter codes, the usual case
	for from, to := range table {
		translated[from] = []byte(to)
		if len(from) == 1 {
			letters[from[0]] = []byte(to)
		}
	}
	nothing := translated[""] // an empty text is translated only if the table says so
	return func(r *currentRow) []byte {
		text := of(r)
		if len(text) == 0 {
			return nothing
		}
		// A code may be translated to the empty text, which is not nil.
		if len(text) == 1 && letters[text[0]] != nil {
			return letters[text[0]]
		}
		to, known := translated[string(text)]
		switch {
		case known:
			return to
		case keep:
			return text
		case otherwise != nil:
			return []byte(*otherwise)
		}
		r.fail(Unconvertible, column, text, "values has no translation for it; add one, or set otherwise")
		return nil
	}
}

// defaultText replaces an empty text.
func defaultText(of func(*currentRow) []byte, instead string) func(*currentRow) []byte {
	fixed := []byte(instead)
	return func(r *currentRow) []byte {
		if text := of(r); len(text) > 0 {
			return text
		}
		return fixed
	}
}

// conditionalText is empty if the condition does not hold.
func conditionalText(of func(*currentRow) []byte, when []test) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		if !r.passes(when) {
			return nil
		}
		return of(r)
	}
}

// extractedText returns what a regular expression finds: its first group, or all of it. A text that
// does not match is an error, unless the map says what to do.
func extractedText(of func(*currentRow) []byte, column int, pattern *regexp.Regexp, otherwise *string, keep bool) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		text := of(r)
		if len(text) == 0 {
			return nil
		}
		found := pattern.FindSubmatch(text)
		switch {
		case len(found) > 1:
			return trimBlanks(found[1])
		case len(found) == 1:
			return trimBlanks(found[0])
		case keep:
			return text
		case otherwise != nil:
			return []byte(*otherwise)
		}
		r.fail(Unconvertible, column, text, "extract finds nothing in it; correct the pattern, or set otherwise")
		return nil
	}
}

// removedText returns a text without what a regular expression finds, and without separators that are
// left at the ends.
func removedText(of func(*currentRow) []byte, pattern *regexp.Regexp) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		text := of(r)
		if !pattern.Match(text) {
			return text
		}
		return bytes.Trim(pattern.ReplaceAll(text, nil), " \t,;")
	}
}
