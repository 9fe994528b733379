package convert

import "bytes"

// columnText reads a column.
func columnText(column int, trim bool) func(*row) []byte {
	if !trim {
		return func(r *row) []byte { return r.cell(column, false) }
	}
	return func(r *row) []byte { return r.cell(column, true) }
}

// constantText is the same for every row.
func constantText(text string) func(*row) []byte {
	fixed := []byte(text)
	return func(*row) []byte { return fixed }
}

// joinedText puts those that are not empty together.
func joinedText(parts []*value, between string) func(*row) []byte {
	return func(r *row) []byte {
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

// firstText takes the first that is not empty.
func firstText(choices []*value) func(*row) []byte {
	return func(r *row) []byte {
		for _, choice := range choices {
			if text := choice.get(r); len(text) > 0 {
				return text
			}
		}
		return nil
	}
}

// partText takes one of the parts between separators, counted from 1, or from
// the end when it is negative.
func partText(of func(*row) []byte, at string, part int) func(*row) []byte {
	return func(r *row) []byte {
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
			return trimmed(text)
		}
		pieces := bytes.Split(text, []byte(at))
		if len(pieces) < -part {
			return nil
		}
		return trimmed(pieces[len(pieces)+part])
	}
}

// strippedText drops leading characters, such as the zeros of old numbers.
func strippedText(of func(*row) []byte, leading string) func(*row) []byte {
	return func(r *row) []byte { return bytes.TrimLeft(of(r), leading) }
}

// casedText changes the case of letters.
func casedText(of func(*row) []byte, change func([]byte) []byte) func(*row) []byte {
	return func(r *row) []byte { return change(of(r)) }
}

// translatedText looks a text up. What is not in the table is an error, unless
// the map says what to make of it.
func translatedText(of func(*row) []byte, column int, table map[string]string, otherwise *string, keep bool) func(*row) []byte {
	translated := make(map[string][]byte, len(table))
	var letters [256][]byte // codes of one letter, which most are
	for from, to := range table {
		translated[from] = []byte(to)
		if len(from) == 1 {
			letters[from[0]] = []byte(to)
		}
	}
	return func(r *row) []byte {
		text := of(r)
		// A code may be translated into nothing: the text is empty then, and not
		// nil.
		if len(text) == 1 && letters[text[0]] != nil {
			return letters[text[0]]
		}
		to, known := translated[string(text)]
		switch {
		case known:
			return to
		// Nothing is translated only where the table says so. Whether something is
		// needed is for the attr to decide.
		case len(text) == 0, keep:
			return text
		case otherwise != nil:
			return []byte(*otherwise)
		}
		r.fail(Unconvertible, column, text, "values has no translation for it; add one, or say otherwise")
		return nil
	}
}

// defaultText stands in for what is empty.
func defaultText(of func(*row) []byte, instead string) func(*row) []byte {
	fixed := []byte(instead)
	return func(r *row) []byte {
		if text := of(r); len(text) > 0 {
			return text
		}
		return fixed
	}
}

// conditionalText is empty for rows of which the condition does not hold.
func conditionalText(of func(*row) []byte, when []test) func(*row) []byte {
	return func(r *row) []byte {
		if !r.passes(when) {
			return nil
		}
		return of(r)
	}
}
