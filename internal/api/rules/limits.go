package rules

import "strconv"

// A document may have baseValues values plus one for every bytesPerValue bytes.
// Normal documents have one value per 16 to 30 bytes. A body of nothing but
// commas and brackets would need fifty times its own size in memory.
const (
	baseValues    = 4096
	bytesPerValue = 13
)

// maxValues returns how many values a body of the given size may have.
func maxValues(size int) int { return baseValues + size/bytesPerValue }

// countValue counts one value against the limit. It returns false if the
// document must be refused.
func (r *reader) countValue() bool {
	if r.valuesLeft > 0 && (r.valuesRead+1)%cancelCheckInterval != 0 {
		r.valuesLeft--
		r.valuesRead++
		return true
	}
	return r.countValueSlow()
}

// countValueSlow is countValue for when it is time to check for cancellation or
// the limit may be reached.
func (r *reader) countValueSlow() bool {
	if !r.notCancelled() {
		return false
	}
	if r.valuesLeft--; r.valuesLeft >= 0 {
		return true
	}
	r.fault = &Violation{Code: CodeMaxItems, Attr: attrOf(r.lexer.pointer()),
		Detail: "The document has too many values. The limit is " + strconv.Itoa(baseValues) +
			" plus one for every " + strconv.Itoa(bytesPerValue) + " bytes."}
	return false
}

// cancelCheckInterval is how many values are read between two checks for
// cancellation. Reading one value takes a few microseconds at most.
const cancelCheckInterval = 256

// detailCancelled is never seen by a client: the client is gone.
const detailCancelled = "The request was cancelled."

// notCancelled reports whether the caller still waits for the document.
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

// addName records a field name that is not in the table, to detect duplicates.
// While its object is being read, the name counts as two values.
func (r *reader) addName(known *nameSet, name string) bool {
	if !known.add(name) {
		return r.duplicateField()
	}
	return r.countValue() && r.countValue() //nolint:staticcheck // it costs two
}

// dropNames releases what the names of an object cost.
func (r *reader) dropNames(known *nameSet) { r.valuesLeft += 2 * known.count }
