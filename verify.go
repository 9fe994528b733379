package landfall

// Finding is something in the database that does not hold.
type Finding struct {
	Key  Key
	What string // a sentence for a person, without personal data
}

// Inspection is what an inspection is doing: how far it is, and the next
// finding, if there is one.
type Inspection struct {
	Processes int      // looked at so far
	Finding   *Finding // nil: nothing was found in these
}
