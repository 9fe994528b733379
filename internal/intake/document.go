package intake

import (
	"context"
	"errors"

	"landfall"
)

// documentAt is a document path and where in the request it stands.
type documentAt struct{ attr, path string }

// checkDocuments asks the file store whether documents exist, when the
// supplier wants that. All missing ones are told at once; a store that cannot
// be asked is a different answer from a document that is not there.
func (d *Desk) checkDocuments(ctx context.Context, supplier landfall.Supplier, documents []documentAt) error {
	if !supplier.VerifyDocuments || d.documents == nil {
		return nil
	}
	var missing []landfall.Violation
	for _, document := range documents {
		err := d.documents.Check(ctx, supplier, document.path)
		var refusal *landfall.Error
		switch {
		case err == nil:
		case errors.As(err, &refusal) && refusal.Code == landfall.CodeDocumentMissing:
			missing = append(missing, landfall.Violation{Code: refusal.Code, Attr: document.attr, Detail: refusal.Detail})
		default:
			return trouble(err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	refusal := landfall.Refuse(landfall.CodeDocumentMissing, "Some documents are not in the file store.")
	refusal.Violations = missing
	return refusal
}
