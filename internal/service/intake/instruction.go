package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/ledger"
)

// InstructionReceipt says onto which account an instruction went.
type InstructionReceipt struct {
	AccountNumber string
	Reference     string
	Added         int // 0 when the account had it already
}

// PostInstruction asks the vendor about a payment instruction and keeps what
// he said on an imported account. The vendor is asked before the transaction,
// so that a slow vendor holds no lock; the same instruction again is kept once.
func (s *Service) PostInstruction(ctx context.Context, who landfall.Principal, body []byte) (InstructionReceipt, error) {
	request, err := contract.ReadInstruction(ctx, body)
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
	// Who has no account, or a paused supplier, or sent this before, is told so
	// without bothering the vendor.
	instruction := request.Instruction
	number, known, err := s.postInstruction(ctx, who, request.Key, instruction, false)
	added := 0
	if err == nil && !known {
		if instruction.Details, err = s.verify(ctx, who, request.Key.Supplier, instruction); err == nil {
			number, known, err = s.postInstruction(ctx, who, request.Key, instruction, true)
		}
		// Somebody else may have added it while the vendor was asked.
		if !known {
			added = 1
		}
	}
	if err != nil {
		return InstructionReceipt{}, err
	}
	return InstructionReceipt{AccountNumber: number, Reference: instruction.Reference, Added: added}, nil
}

// postInstruction looks whether an account has an instruction already and, if
// it is to be kept, adds it when not. One that is there in other words is
// refused: dropping the new ones in silence would be a loss. Looking is a
// posting too, though it adds nothing: the answer that it is there already is a
// promise, and has to rest on a commit of its own.
func (s *Service) postInstruction(
	ctx context.Context, who landfall.Principal, key landfall.Key, instruction landfall.Instruction, keep bool,
) (number string, known bool, err error) {
	posted := []landfall.Instruction{instruction}
	number, err = s.post(ctx, landfall.Posting{
		Key: key, By: who.Author(), Instructions: posted,
		Decide: func(account landfall.AccountState) (landfall.Additions, error) {
			fresh, conflict, differences := ledger.PostInstructions(account.Instructions, posted)
			known = conflict < 0 && len(fresh) == 0
			switch {
			case conflict >= 0:
				return landfall.Additions{}, refuseInstruction("", differences)
			case known, !keep:
				return landfall.Additions{}, nil
			}
			return landfall.Additions{Instructions: fresh, Event: additionEvent(landfall.EventInstructionCreated, key, len(fresh))}, nil
		},
	}, errNoAccount)
	return number, known, err
}

// refuseInstruction refuses an instruction that the account has in other words.
func refuseInstruction(prefix string, differences []string) error {
	const detail = "The account has this payment instruction with another value here."
	refusal := landfall.Refuse(landfall.CodeInstructionExists, "The account has this payment instruction in other words.")
	for _, field := range differences {
		refusal.Violations = append(refusal.Violations, landfall.Violation{
			Code: landfall.CodeInstructionExists, Attr: prefix + field, Detail: detail,
		})
	}
	refusal.Members = []landfall.Member{{Name: "differences", Value: differences}}
	return refusal
}

// verify asks the vendor of an instruction about it.
func (s *Service) verify(ctx context.Context, who landfall.Principal, supplier string, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if s.verifier == nil {
		return landfall.InstructionDetails{}, landfall.RefuseVendor()
	}
	var vendor landfall.Vendor
	err := s.store.View(ctx, func(view landfall.View) error {
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
