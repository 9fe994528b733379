package console

import (
	"fmt"

	"landfall"
)

// key is the account that an act is about.
func (v *visit) key() landfall.Key {
	return landfall.Key{Supplier: v.value("supplier"), External: v.value("external")}
}

// skip wants no code typed: unskip takes it back.
func skip(v *visit) (any, error) {
	if err := v.operator().Skip(v.ctx(), v.key(), v.typed("reason")); err != nil {
		return nil, err
	}
	return done{accountPath(v.key()), "The account is marked as skipped: it is neither staged nor created."}, nil
}

// unskip asks for a reason as skip does, so that the audit tells both halves of the story.
func unskip(v *visit) (any, error) {
	if err := v.operator().Unskip(v.ctx(), v.key(), v.typed("reason")); err != nil {
		return nil, err
	}
	return done{accountPath(v.key()), "The account is not marked any more."}, nil
}

// undo cannot be taken back, so it wants the supplier's code typed.
func undo(v *visit) (any, error) {
	if err := v.confirmed(v.key().Supplier); err != nil {
		return nil, err
	}
	outcome, err := v.operator().Undo(v.ctx(), v.key(), v.typed("reason"))
	if err != nil {
		return nil, err
	}
	return done{accountPath(v.key()), fmt.Sprintf("The account %s was taken back. Its number is nobody's any more; the staged data is there.", outcome.Number)}, nil
}

// erase cannot be undone by anybody.
func erase(v *visit) (any, error) {
	if err := v.confirmed(v.key().Supplier); err != nil {
		return nil, err
	}
	// The outcome is left out on purpose: nothing of what was erased may come back in a sentence.
	if _, err := v.operator().Erase(v.ctx(), v.key(), v.typed("reason")); err != nil {
		return nil, err
	}
	return done{accountPath(v.key()), "What was personal of the account is erased. The ledger stays."}, nil
}
