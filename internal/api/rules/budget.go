package rules

import "strconv"

// A document may hold a few thousand values and one more for every few bytes of
// it. Honest ones have a value per 16 to 30 bytes; a body made of nothing but
// commas and brackets would take fifty times its own size to understand.
const (
	valuesFree   = 4096
	bytesByValue = 13
)

// budget is how many values a body of a size may hold.
func budget(size int) int { return valuesFree + size/bytesByValue }

// spend takes one value from the budget, or refuses the document.
func (r *reader) spend() bool {
	if r.left > 0 && (r.walked+1)%lookUpEvery != 0 {
		r.left--
		r.walked++
		return true
	}
	return r.spendLast()
}

// spendLast is spend where it is time to look up or nothing may be left.
func (r *reader) spendLast() bool {
	if !r.awaited() {
		return false
	}
	if r.left--; r.left >= 0 {
		return true
	}
	r.fault = &Violation{Code: CodeMaxItems, Attr: dotted(r.tokens.pointer()),
		Detail: "The document has more values than can be read: " + strconv.Itoa(valuesFree) +
			" and one more for every " + strconv.Itoa(bytesByValue) + " bytes of it."}
	return false
}

// lookUpEvery is how many values are read between two looks whether anybody still
// waits for them. The longest of the values that are looked into take a few
// microseconds each.
const lookUpEvery = 256

// detailGone is told to nobody: who would hear it has left.
const detailGone = "Nobody waits for the document any more."

// awaited reports whether somebody still waits for the document.
func (r *reader) awaited() bool {
	if r.walked++; r.walked%lookUpEvery != 0 {
		return true
	}
	select {
	case <-r.gone:
		return r.malformed(detailGone)
	default:
		return true
	}
}

// remember keeps a name that no table has, to notice it when it comes twice.
// As long as its object is being read it costs as much as two values.
func (r *reader) remember(known *names, name string) bool {
	if !known.add(name) {
		return r.twice()
	}
	return r.spend() && r.spend() //nolint:staticcheck // it costs two
}

// forget gives back what the names of an object cost.
func (r *reader) forget(known *names) { r.left += 2 * known.count }
