package contract

import "landfall/internal/api/rules"

// notes checks each note by itself. Whether the account already has it is
// checked later.
func (c *checker) notes(list *rules.Node) {
	for _, note := range list.Items() {
		if !note.Valid() {
			continue
		}
		body, paths := note.Field("body"), note.Field("document_paths")
		unread := body.Present() && !body.Valid() || paths.Present() && !paths.Valid()
		if !unread && body.Text() == "" && len(paths.Items()) == 0 {
			c.violateField(CodeNoteEmpty, note, "body")
		}
		for _, item := range paths.Items() {
			c.path(item.Field("document_path"))
		}
		// Without created_at there is nothing to compare with. Comparing with the
		// current time would make the result depend on when the document is checked.
		created, unpin := note.Field("created_at"), note.Field("unpin_at")
		if created.Valid() && unpin.Valid() && unpin.Instant().Before(created.Instant()) {
			c.violate(CodeNoteUnpin, unpin)
		}
	}
}
