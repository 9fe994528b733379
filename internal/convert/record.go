package convert

import "bytes"

// records reads the rows of a block one after the other.
type records struct {
	text             []byte
	delimiter, quote byte
	line             int // of the next row

	fields [][]byte // of the row that was read last
	at     int      // its line
	wrong  string   // what is wrong with it, if anything
	ended  int      // where it ended in the text, for whoever shows it
}

func (r *records) reset(b block) {
	r.text, r.line, r.ended = b.text, b.line, 0
}

// next reads a row. Lines with nothing in them are counted and are no rows.
// A row has as many line ends in it as its quoted texts.
func (r *records) next() bool {
	text, i := r.text, r.ended
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n') {
		if text[i] == '\n' {
			r.line++
		}
		i++
	}
	if i >= len(text) {
		return false
	}
	r.fields, r.at, r.wrong = r.fields[:0], r.line, ""
	delimiter, quote := r.delimiter, r.quote
	for {
		if i < len(text) && text[i] == quote && quote != 0 {
			i = r.quoted(i)
		} else {
			begin := i
			for i < len(text) && text[i] != delimiter && text[i] != '\n' {
				i++
			}
			field := text[begin:i]
			if (i == len(text) || text[i] == '\n') && len(field) > 0 && field[len(field)-1] == '\r' {
				field = field[:len(field)-1]
			}
			r.fields = append(r.fields, field)
		}
		if i >= len(text) {
			break
		}
		i++
		if text[i-1] == '\n' {
			r.line++
			break
		}
	}
	r.ended = i
	return true
}

// quoted reads a field in quotes that begins at i and gives where it ends.
func (r *records) quoted(i int) int {
	text := r.text
	closing := closingQuote(text[i+1:], r.quote)
	if closing < 0 { // the splitter lets none through but at the very end
		r.wrong = "it opens a quote that nothing closes"
		r.fields = append(r.fields, text[i+1:])
		return len(text)
	}
	field := text[i+1 : i+1+closing]
	r.line += bytes.Count(field, newline)
	if bytes.IndexByte(field, r.quote) >= 0 {
		field = bytes.ReplaceAll(field, []byte{r.quote, r.quote}, []byte{r.quote})
	}
	r.fields = append(r.fields, field)
	i += closing + 2
	if i < len(text) && text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n') {
		i++
	}
	if i < len(text) && text[i] != r.delimiter && text[i] != '\n' {
		r.wrong = "it has text behind a closing quote; double the quotes within a text"
		for i < len(text) && text[i] != r.delimiter && text[i] != '\n' {
			i++
		}
	}
	return i
}
