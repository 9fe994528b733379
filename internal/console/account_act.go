package console

import (
	"fmt"

	"landfall"
)

// accountKey is the account that an act is about.
func (r *pageRequest) accountKey() landfall.Key {
	return landfall.Key{Supplier: r.PathValue("supplier"), External: r.PathValue("external")}
}

// skipAccount wants no code typed: unskip takes it back.
func skipAccount(r *pageRequest) (any, error) {
	if err := r.operator().Skip(r.Context(), r.accountKey(), r.formValue("reason")); err != nil {
		return nil, err
	}
	return redirect{accountPath(r.accountKey()), "The account is marked as skipped: it is neither staged nor created."}, nil
}

// unskipAccount asks for a reason as skip does, so that the audit tells both halves of the story.
func unskipAccount(r *pageRequest) (any, error) {
	if err := r.operator().Unskip(r.Context(), r.accountKey(), r.formValue("reason")); err != nil {
		return nil, err
	}
	return redirect{accountPath(r.accountKey()), "The account is not marked any more."}, nil
}

// undoAccount cannot be taken back, so it wants the supplier's code typed.
func undoAccount(r *pageRequest) (any, error) {
	if err := r.requireConfirmation(r.accountKey().Supplier); err != nil {
		return nil, err
	}
	outcome, err := r.operator().Undo(r.Context(), r.accountKey(), r.formValue("reason"))
	if err != nil {
		return nil, err
	}
	return redirect{accountPath(r.accountKey()), fmt.Sprintf("The account %s was taken back. Its number is nobody's any more; the staged data is there.", outcome.Number)}, nil
}

// eraseAccount cannot be undone by anybody.
func eraseAccount(r *pageRequest) (any, error) {
	if err := r.requireConfirmation(r.accountKey().Supplier); err != nil {
		return nil, err
	}
	// The outcome is left out on purpose: nothing of what was erased may come back in a sentence.
	if _, err := r.operator().Erase(r.Context(), r.accountKey(), r.formValue("reason")); err != nil {
		return nil, err
	}
	return redirect{accountPath(r.accountKey()), "What was personal of the account is erased. The ledger stays."}, nil
}
