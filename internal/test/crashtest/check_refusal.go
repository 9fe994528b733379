package crashtest

import "landfall"

// refusals checks that a staging that was refused for its data, or because the
// account was being created, is on record until the account is staged.
// Otherwise an account could disappear because nobody read a response.
func (c *checker) refusals() {
	var leaving []*Entry // that left a record or may have
	for _, entry := range c.of(Stage) {
		if entry.leaves() || entry.open() {
			leaving = append(leaving, entry)
		}
	}
	if c.found.Refusal == "" {
		for _, entry := range leaving {
			if entry.leaves() && c.mustStay(entry) {
				c.faultf("a staging was refused with %s, and that is not on record", entry.Answer.Code)
			}
		}
		return
	}
	if len(leaving) == 0 {
		c.faultf("a refusal is on record, and nobody was refused")
	}
	for _, staged := range c.of(Stage) {
		if !staged.done() {
			continue
		}
		later := false
		for _, entry := range leaving {
			later = later || !staged.over(entry)
		}
		if !later {
			c.faultf("was staged, and the refusal before it is still on record")
			return
		}
	}
}

// leaves reports whether a response says that a record was left.
func (e *Entry) leaves() bool {
	return e.refused(landfall.CodeAccountFailedValidation, landfall.CodeImportInProgress)
}

// mustStay reports that nothing can have removed or prevented the record of a
// refusal: no staging, no account and no skip.
func (c *checker) mustStay(refused *Entry) bool {
	for _, entry := range c.entries {
		if entry.refused() {
			continue
		}
		switch entry.Verb {
		case Stage:
			if !refused.over(entry) {
				return false
			}
		case Process, Skip:
			if entry.began < refused.ended {
				return false
			}
		default:
		}
	}
	return true
}
