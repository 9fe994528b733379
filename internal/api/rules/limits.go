package rules

import "strconv"

// A document may hold a few thousand values and one more for every few bytes of
// it. Honest ones have a value per 16 to 30 bytes; a body made of nothing but
// commas and brackets would take fifty times its own size to understand.
const (
	baseValues    = 4096
	bytesPerValue = 13
)

// maxValues is how many values a body of a size may hold.
func maxValues(size int) int { return baseValues + size/bytesPerValue }

// countValue takes one value from the budget, or refuses the document.
func (r *reader) countValue() bool {
	if r.valuesLeft > 0 && (r.valuesRead+1)%cancelCheckInterval != 0 {
		r.valuesLeft--
		r.valuesRead++
		return true
	}
	return r.countValueSlow()
}

// countValueSlow is spend where it is time to look up or nothing may be left.
func (r *reader) countValueSlow() bool {
	if !r.notCancelled() {
		return false
	}
	if r.valuesLeft--; r.valuesLeft >= 0 {
		return true
	}
	r.fault = &Violation{Code: CodeMaxItems, Attr: attrOf(r.lexer.pointer()),
		Detail: "The document has more values than can be read: " + strconv.Itoa(baseValues) +
			" and one more for every " + strconv.Itoa(bytesPerValue) + " bytes of it."}
	return false
}

// cancelCheckInterval is how many values are read between two looks whether anybody still
// waits for them. The longest of the values that are looked into take a few
// microseconds each.
const cancelCheckInterval = 256

// detailCancelled is told to nobody: who would hear it has left.
const detailCancelled = "Nobody waits for the document any more."

// notCancelled reports whether somebody still waits for the document.
func (r *reader) notCancelled() bool {
	if r.valuesRead++; r.valuesRead%cancelCheckInterval != 0 {
		return true
	}
	select {
	case <-r.done:
		return r.malformed(detailCancelled)
	default:
		return true
	}
}

// addName keeps a name that no table has, to notice it when it comes twice.
// As long as its object is being read it costs as much as two values.
func (r *reader) addName(known *nameSet, name string) bool {
	if !known.add(name) {
		return r.duplicateField()
	}
	return r.countValue() && r.countValue() //nolint:staticcheck // it costs two
}

// dropNames gives back what the names of an object cost.
func (r *reader) dropNames(known *nameSet) { r.valuesLeft += 2 * known.count }
