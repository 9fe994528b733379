package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/ledger"
)

// InstructionReceipt is the result of PostInstruction.
type InstructionReceipt struct {
	AccountNumber string
	Reference     string
	Added         int // 0 when the account had it already
	Warnings      []landfall.Violation

	found landfall.ConflictQuery // what other accounts may have
}

// PostInstruction verifies a payment instruction with its vendor and adds it to an
// imported account. The vendor is asked before the transaction, so that a slow
// vendor holds no lock. The same instruction is stored once.
func (s *Service) PostInstruction(ctx context.Context, who landfall.Principal, body []byte) (_ InstructionReceipt, err error) {
	request, err := contract.ReadInstruction(ctx, body)
	key := request.Key
	defer func() { err = s.refusePosting(ctx, who, key, landfall.PostingInstruction, err) }()
	if err != nil {
		return InstructionReceipt{}, err
	}
	supplier, err := s.Supplier(ctx, who, request.Key.Supplier)
	if err != nil {
		return InstructionReceipt{}, userError(err)
	}
	if supplier == nil {
		return InstructionReceipt{}, errNoAccount
	}
	// Without an account, with a paused supplier or for a known instruction the vendor
	// is not asked.
	instruction := request.Instruction
	unique := contract.UniqueInstruction(supplier, instruction)
	number, known, err := s.postInstruction(ctx, who, request.Key, instruction, unique, false)
	added := 0
	if err == nil && !known {
		if instruction.Details, err = s.verify(ctx, who, request.Key.Supplier, instruction); err == nil {
			number, known, err = s.postInstruction(ctx, who, request.Key, instruction, unique, true)
		}
		// Another request may have added it while the vendor was asked.
		if !known {
			added = 1
		}
	}
	if err != nil {
		return InstructionReceipt{}, err
	}
	return InstructionReceipt{
		AccountNumber: number, Reference: instruction.Reference, Added: added,
		found: landfall.ConflictQuery{Key: request.Key, Identifiers: []landfall.Identifier{contract.InstructionIdentifier(instruction)}},
	}, nil
}

// postInstruction checks whether an account has an instruction and, with keep, adds
// it if not. An existing one with other values is refused, so that no value is
// dropped silently. The check is a posting too, although it adds nothing: the
// answer that the instruction exists is a promise and needs a commit of its own.
func (s *Service) postInstruction(
	ctx context.Context, who landfall.Principal, key landfall.Key, instruction landfall.Instruction, unique []landfall.Identifier, keep bool,
) (number string, known bool, err error) {
	posted := []landfall.Instruction{instruction}
	var others []landfall.Conflict
	number, err = s.post(ctx, who, landfall.Posting{
		Kind: landfall.PostingInstruction, Key: key, By: who.Author(), Instructions: posted, Unique: unique,
		Decide: func(account landfall.AccountState) (landfall.Additions, error) {
			fresh, conflict, differences := ledger.PostInstructions(account.Instructions, posted)
			known, others = conflict < 0 && len(fresh) == 0, account.Conflicts
			switch {
			case conflict >= 0:
				return landfall.Additions{}, refuseInstruction("", differences)
			case !known && len(others) > 0:
				return landfall.Additions{}, errOnAnother
			case known, !keep:
				return landfall.Additions{Undecided: !known}, nil
			}
			return landfall.Additions{Instructions: fresh, Event: additionEvent(landfall.EventInstructionCreated, key, len(fresh))}, nil
		},
	}, errNoAccount)
	if errors.Is(err, errOnAnother) {
		refusal, err := s.refuseConflicts(ctx, who, landfall.CodeValidationFailed, others)
		if err != nil {
			return "", false, err
		}
		return "", false, refusal
	}
	return number, known, err
}

// errOnAnother ends a posting whose instruction another account has.
var errOnAnother = landfall.Refuse(landfall.CodeValidationFailed, contract.Meaning(contract.CodeInstructionElsewhere))

func refuseInstruction(prefix string, differences []string) error {
	const detail = "The account has this payment instruction with another value here."
	refusal := landfall.Refuse(landfall.CodeInstructionExists, "The account has this payment instruction with other values.")
	for _, field := range differences {
		refusal.Violations = append(refusal.Violations, landfall.Violation{
			Code: landfall.CodeInstructionExists, Attr: prefix + field, Detail: detail,
		})
	}
	refusal.Members = []landfall.Member{{Name: "differences", Value: differences}}
	return refusal
}

// verify asks the vendor about an instruction.
func (s *Service) verify(ctx context.Context, who landfall.Principal, supplier string, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if s.verifier == nil {
		return landfall.InstructionDetails{}, landfall.RefuseVendor()
	}
	var vendor landfall.Vendor
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) error {
		var err error
		vendor, err = view.GrantedVendor(ctx, supplier, instruction.Vendor)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return landfall.InstructionDetails{}, landfall.RefuseVendor()
	}
	if err != nil {
		return landfall.InstructionDetails{}, userError(err)
	}
	details, err := s.verifier.Verify(ctx, who.Organisation, vendor, instruction)
	if err != nil {
		return landfall.InstructionDetails{}, userError(err)
	}
	return details, nil
}
