package intake

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/contract"
)

// InstructionReceipt says onto which account an instruction went.
type InstructionReceipt struct {
	AccountNumber string
	Reference     string
}

// PostInstruction asks the vendor about a payment instruction and keeps what
// he said on an imported account. The vendor is asked before the transaction,
// so that a slow vendor holds no lock; the same instruction again is kept once.
func (d *Desk) PostInstruction(ctx context.Context, who landfall.Principal, body []byte) (InstructionReceipt, error) {
	request, err := contract.ReadInstruction(body)
	if err != nil {
		return InstructionReceipt{}, err
	}
	supplier, err := d.supplier(ctx, who, request.Key.Supplier)
	if err != nil {
		return InstructionReceipt{}, trouble(err)
	}
	if supplier == nil {
		return InstructionReceipt{}, errNoAccount
	}
	instruction := request.Instruction
	// Who has no account, or a paused supplier, or sent this before, is told so
	// without bothering the vendor.
	kept := false
	number, err := d.post(ctx, landfall.Posting{
		Key: request.Key, By: who.Author(), Instructions: []landfall.Instruction{instruction},
		Decide: func(account landfall.AccountBooks) (landfall.Additions, error) {
			kept = slices.ContainsFunc(account.Instructions, func(other landfall.Instruction) bool {
				return instruction.Same(other) && instruction.Type == other.Type
			})
			return landfall.Additions{}, nil
		},
	}, errNoAccount)
	if err != nil {
		return InstructionReceipt{}, err
	}
	if kept {
		return InstructionReceipt{AccountNumber: number, Reference: instruction.Reference}, nil
	}
	if instruction.Details, err = d.verify(ctx, who, request.Key.Supplier, instruction); err != nil {
		return InstructionReceipt{}, err
	}
	number, err = d.post(ctx, landfall.Posting{
		Key: request.Key, By: who.Author(), Instructions: []landfall.Instruction{instruction},
		Decide: func(account landfall.AccountBooks) (landfall.Additions, error) {
			if slices.ContainsFunc(account.Instructions, instruction.Same) {
				return landfall.Additions{}, nil
			}
			return landfall.Additions{
				Instructions: []landfall.Instruction{instruction},
				Event:        event(landfall.EventInstructionCreated, request.Key, 1),
			}, nil
		},
	}, errNoAccount)
	if err != nil {
		return InstructionReceipt{}, err
	}
	return InstructionReceipt{AccountNumber: number, Reference: instruction.Reference}, nil
}

// nothing looks whether an account can be posted to.
func nothing(landfall.AccountBooks) (landfall.Additions, error) { return landfall.Additions{}, nil }

// verify asks the vendor of an instruction about it.
func (d *Desk) verify(ctx context.Context, who landfall.Principal, supplier string, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if d.verifier == nil {
		return landfall.InstructionDetails{}, landfall.RefuseVendor()
	}
	var vendor landfall.Vendor
	err := d.store.View(ctx, func(view landfall.View) error {
		var err error
		vendor, err = view.GrantedVendor(ctx, supplier, instruction.Vendor)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return landfall.InstructionDetails{}, landfall.RefuseVendor()
	}
	if err != nil {
		return landfall.InstructionDetails{}, trouble(err)
	}
	details, err := d.verifier.Verify(ctx, who.Organisation, vendor, instruction)
	if err != nil {
		return landfall.InstructionDetails{}, trouble(err)
	}
	return details, nil
}
