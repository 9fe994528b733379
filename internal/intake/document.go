package intake

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/rules"
)

// documentAt is a document path and where in the request it stands.
type documentAt struct{ attr, path string }

// mostMissing is how many missing documents one answer names.
const mostMissing = 100

// errNoFileStore is for a supplier whose documents must be verified on a
// service that was given no file store: not looking would be a lie.
var errNoFileStore = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeFileStoreUnavailable, RetryAfter: 2 * time.Second,
	Detail: "The documents cannot be verified now. Send the same request again later.",
	Cause:  errors.New("no file store is configured"),
}

// checkPosted asks about the documents of something posted. Who has no account,
// or a paused supplier, is told so without bothering the file store; the
// transaction that writes asks again.
func (d *Desk) checkPosted(
	ctx context.Context, supplier landfall.Supplier, key landfall.Key, documents []documentAt, absent error,
) error {
	if !supplier.VerifyDocuments || len(documents) == 0 {
		return nil
	}
	if supplier.Status == landfall.Paused {
		return errSupplierNotOngoing
	}
	var process landfall.Process
	err := d.store.View(ctx, func(view landfall.View) (err error) {
		process, err = view.Process(ctx, key)
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return absent
	case err != nil:
		return trouble(err)
	case process.State != landfall.Imported:
		return absent
	}
	return d.checkDocuments(ctx, supplier, documents)
}

// checkDocuments asks the file store whether documents exist, when the
// supplier wants that. All missing ones are told at once; a store that cannot
// be asked is a different answer from a document that is not there.
func (d *Desk) checkDocuments(ctx context.Context, supplier landfall.Supplier, documents []documentAt) error {
	if !supplier.VerifyDocuments || len(documents) == 0 {
		return nil
	}
	if d.documents == nil {
		return errNoFileStore
	}
	// The same document may be referred to from many places.
	answers := make(map[string]*landfall.Error, len(documents))
	var paths []string
	for _, document := range documents {
		if _, known := answers[document.path]; !known {
			answers[document.path] = nil
			paths = append(paths, document.path)
		}
	}
	found := make([]*landfall.Error, len(paths))
	err := together(ctx, len(paths), func(ctx context.Context, i int) error {
		err := d.documents.Check(ctx, supplier, paths[i])
		if errors.As(err, &found[i]) && found[i].Code == landfall.CodeDocumentMissing {
			return nil
		}
		return err
	})
	if err != nil {
		return trouble(err)
	}
	for i, path := range paths {
		answers[path] = found[i]
	}
	return refuseMissing(documents, answers)
}

func refuseMissing(documents []documentAt, answers map[string]*landfall.Error) error {
	var missing []landfall.Violation
	for _, document := range documents {
		answer := answers[document.path]
		if answer == nil {
			continue
		}
		if len(missing) == mostMissing {
			missing = append(missing, landfall.Violation{
				Code: rules.CodeTooManyErrors, Detail: "There are more missing documents than these.",
			})
			break
		}
		missing = append(missing, landfall.Violation{Code: answer.Code, Attr: document.attr, Detail: answer.Detail})
	}
	if len(missing) == 0 {
		return nil
	}
	refusal := landfall.Refuse(landfall.CodeDocumentMissing, "Some documents are not in the file store.")
	refusal.Violations = missing
	return refusal
}
