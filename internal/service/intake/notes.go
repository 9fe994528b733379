package intake

import (
	"context"
	"fmt"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/ledger"
)

// NotesReceipt is the results of posted notes, in order.
type NotesReceipt struct {
	Request  *contract.NotesRequest
	Results  []ledger.NoteResult
	Warnings []landfall.Violation
}

// PostNotes adds notes to an imported account. Duplicates are detected in the
// writing transaction.
func (s *Service) PostNotes(ctx context.Context, who landfall.Principal, body []byte) (_ NotesReceipt, err error) {
	request, err := contract.ReadNotes(ctx, body)
	if err != nil {
		return NotesReceipt{}, err
	}
	key := request.Key()
	defer func() { err = s.refusePosting(ctx, who, key, landfall.PostingNotes, err) }()
	supplier, err := s.Supplier(ctx, who, request.Key().Supplier)
	if err != nil {
		return NotesReceipt{}, userError(err)
	}
	if supplier != nil && len(supplier.Packs) > 0 {
		schema, err := s.schema(ctx, supplier)
		if err != nil {
			return NotesReceipt{}, userError(err)
		}
		request.Release()
		if request, err = schema.ReadNotes(ctx, body); err != nil {
			return NotesReceipt{}, err
		}
	}
	verdict := request.Check(supplier, s.now())
	if err := verdict.Err(); err != nil {
		return NotesReceipt{}, err
	}
	if supplier == nil {
		return NotesReceipt{}, errAccountNotFound
	}
	notes := request.Notes()
	if err := s.checkPosted(ctx, who, *supplier, request.Key(), notePaths(notes), errAccountNotFound); err != nil {
		return NotesReceipt{}, err
	}
	receipt := NotesReceipt{Request: request, Warnings: verdict.Warnings}
	prepared := ledger.PrepareNotes(notes)
	_, err = s.post(ctx, who, landfall.Posting{
		Kind: landfall.PostingNotes, Key: request.Key(), By: who.Author(), Notes: notes,
		Decide: func(account landfall.AccountState) (landfall.Additions, error) {
			results, fresh := prepared.Onto(account.Notes, account.Now)
			receipt.Results = results
			return landfall.Additions{Notes: fresh, Event: additionEvent(landfall.EventNotesCreated, request.Key(), len(fresh))}, nil
		},
	}, errAccountNotFound)
	if err != nil {
		return NotesReceipt{}, err
	}
	return receipt, nil
}

// notePaths returns the document paths of notes with their attrs.
func notePaths(notes []landfall.Note) []attrFile {
	var paths []attrFile
	for i, note := range notes {
		for j, path := range note.DocumentPaths {
			paths = append(paths, attrFile{fmt.Sprintf("notes.%d.document_paths.%d.document_path", i, j), path})
		}
	}
	return paths
}
