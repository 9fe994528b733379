package contract

import (
	"strings"
	"time"

	"landfall"
	"landfall/internal/rules"
)

// The statuses of a posted note.
const (
	NoteCreated       = "NOTE_CREATION_SUCCESS"
	NoteAlreadyExists = "NOTE_ALREADY_EXISTS"
)

// AppendNote writes what became of one posted note: the time it has on the
// account, its body, the status, and the optional fields that were sent.
func (r *NotesRequest) AppendNote(dst []byte, index int, createdAt time.Time, status string) []byte {
	sent := r.list("notes").Items()[index]
	dst = append(dst, `{"created_at":`...)
	dst = appendInstant(dst, createdAt)
	if body := sent.Field("body"); body.Present() {
		dst = rules.AppendText(dst, "body", body.Text())
	} else {
		dst = append(dst, `,"body":null`...)
	}
	dst = rules.AppendText(dst, "status", status)
	for _, name := range []string{"document_paths", "is_pinned"} {
		if field := sent.Field(name); field.Present() {
			dst = append(rules.AppendName(dst, name), field.Raw()...)
		}
	}
	if until := sent.Field("unpin_at"); until.Present() {
		dst = appendInstant(rules.AppendName(dst, "unpin_at"), until.Instant())
	}
	return append(dst, '}')
}

// WarningsOf gives the warnings about one item of a list. An answer that is a
// list itself has no other place for them than beside the item.
func WarningsOf(item string, warnings []landfall.Violation) []landfall.Violation {
	var own []landfall.Violation
	for _, warning := range warnings {
		if warning.Attr == item || strings.HasPrefix(warning.Attr, item+".") {
			own = append(own, warning)
		}
	}
	return own
}
