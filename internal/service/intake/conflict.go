package intake

import (
	"context"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// maxConflicts is how many other accounts a response names, as it names so many
// violations.
const maxConflicts = 100

// refuseConflicts returns the refusal of an account that has identifiers of other
// accounts.
func (s *Service) refuseConflicts(ctx context.Context, who landfall.Principal, code string, conflicts []landfall.Conflict) (*landfall.Error, error) {
	violations, err := s.violationsOf(ctx, who, conflicts)
	if err != nil {
		return nil, userError(err)
	}
	refusal := landfall.Refuse(code, "Another account has the same supply point, payment instruction, reference or number.")
	refusal.Violations = violations
	return refusal, nil
}

// RefuseConflicts returns why an account was not created whose identifiers other
// accounts have.
func (a *Attempt) RefuseConflicts(ctx context.Context, conflicts []landfall.Conflict) error {
	refusal, err := a.service.refuseConflicts(ctx, a.who, landfall.CodeAccountFailedValidation, conflicts)
	if err != nil {
		return err
	}
	return refusal
}

// violationsOf describes conflicts. The other account is named only to callers who
// may see it.
func (s *Service) violationsOf(ctx context.Context, who landfall.Principal, conflicts []landfall.Conflict) ([]landfall.Violation, error) {
	var violations []landfall.Violation
	for i, conflict := range conflicts {
		if i == maxConflicts {
			return append(violations, landfall.Violation{Code: rules.CodeTooManyErrors, Detail: rules.DetailTooMany}), nil
		}
		code, _ := contract.AcrossRule(conflict.Identifier.Kind, &landfall.Supplier{})
		violation := landfall.Violation{Attr: conflict.Identifier.Attr, Code: code, Detail: contract.Meaning(code)}
		visible, err := s.maySee(ctx, who, conflict.Other.Supplier)
		if err != nil {
			return nil, err
		}
		if visible {
			state := "staged"
			if conflict.Created {
				state = "created"
			}
			violation.Detail += " It is account " + conflict.Other.External + " of " + conflict.Other.Supplier + " (" + state + ")."
		} else {
			violation.Detail += " You have no access to that account; ask the operator."
		}
		violations = append(violations, violation)
	}
	return violations, nil
}

// maySee reports whether a caller may see the accounts of a supplier.
func (s *Service) maySee(ctx context.Context, who landfall.Principal, supplier string) (bool, error) {
	if who.Organisation == "" {
		return true, nil
	}
	found, err := s.supplierCache.Get(ctx, grant{who.Organisation, supplier}, s.now(), s.loadSupplier(who, supplier))
	return found != nil, err
}

// withoutOthers removes the names of other accounts from what is recorded: not
// everyone who reads the record may see those.
func withoutOthers(violations []landfall.Violation) []landfall.Violation {
	recorded := violations
	for i, violation := range violations {
		if _, across := contract.AcrossKind(violation.Code); !across {
			continue
		}
		if &recorded[0] == &violations[0] {
			recorded = append([]landfall.Violation(nil), violations...)
		}
		recorded[i].Detail = contract.Meaning(violation.Code)
	}
	return recorded
}

// WarnOfOthers adds warnings about identifiers of a staged account that other
// accounts have. Callers who do not want warnings are spared the search.
func (s *Service) WarnOfOthers(ctx context.Context, who landfall.Principal, receipt *Receipt) error {
	return s.warnOfOthers(ctx, who, landfall.ConflictQuery{Key: receipt.Key, Identifiers: receipt.identifiers}, &receipt.Warnings)
}

// WarnCreatedOfOthers is WarnOfOthers for an account that was created.
func (s *Service) WarnCreatedOfOthers(ctx context.Context, who landfall.Principal, key landfall.Key, created *Created) error {
	return s.warnOfOthers(ctx, who, landfall.ConflictQuery{Key: key, Identifiers: created.identifiers}, &created.Warnings)
}

// WarnInstructionOfOthers is WarnOfOthers for a payment instruction.
func (s *Service) WarnInstructionOfOthers(ctx context.Context, who landfall.Principal, receipt *InstructionReceipt) error {
	return s.warnOfOthers(ctx, who, receipt.found, &receipt.Warnings)
}

func (s *Service) warnOfOthers(ctx context.Context, who landfall.Principal, query landfall.ConflictQuery, into *[]landfall.Violation) error {
	return s.warnAll(ctx, who, []landfall.ConflictQuery{query}, func(_ int, warnings []landfall.Violation) {
		*into = append(*into, warnings...)
	})
}

// WarnAllOfOthers is WarnOfOthers for all accounts that StageAll staged. They are
// of one caller.
func (s *Service) WarnAllOfOthers(ctx context.Context, staged []StageItem) {
	var queries []landfall.ConflictQuery
	var items []*StageItem
	for i := range staged {
		if one := &staged[i]; one.Err == nil && len(one.Receipt.identifiers) > 0 {
			queries = append(queries, landfall.ConflictQuery{Key: one.Receipt.Key, Identifiers: one.Receipt.identifiers})
			items = append(items, one)
		}
	}
	if len(items) == 0 {
		return
	}
	err := s.warnAll(ctx, items[0].Who, queries, func(i int, warnings []landfall.Violation) {
		items[i].Receipt.Warnings = append(items[i].Receipt.Warnings, warnings...)
	})
	for _, one := range items {
		if err != nil {
			one.Err = err
		}
	}
}

// warnAll looks for the identifiers whose rules are warnings. Those whose rules are
// errors are looked for too: the other account may be staged only.
func (s *Service) warnAll(
	ctx context.Context, who landfall.Principal, queries []landfall.ConflictQuery, add func(int, []landfall.Violation),
) error {
	for i, query := range queries {
		supplier, err := s.Supplier(ctx, who, query.Key.Supplier)
		if err != nil {
			return userError(err)
		}
		if supplier == nil { // the grant was revoked just now
			queries[i].Identifiers = nil
			continue
		}
		queries[i].Identifiers = nil
		for _, one := range query.Identifiers {
			if _, severity := contract.AcrossRule(one.Kind, supplier); severity != landfall.SeverityOff {
				queries[i].Identifiers = append(queries[i].Identifiers, one)
			}
		}
	}
	var found [][]landfall.Conflict
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		found, err = view.Conflicts(ctx, queries)
		return err
	})
	if err != nil {
		return userError(err)
	}
	for i, conflicts := range found {
		warnings, err := s.violationsOf(ctx, who, conflicts)
		if err != nil {
			return userError(err)
		}
		add(i, warnings)
	}
	return nil
}
