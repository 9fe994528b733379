package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// recountTries is how often a supplier is recounted while others correct it too.
const recountTries = 5

// Recount counts everything again that is kept as a sum: the totals of each supplier,
// or of one, the progress of runs, and the terms by which accounts are found. It corrects
// what is wrong and returns a sentence for each. It may run beside servers: what they write meanwhile counts. It
// calls begin before it counts a supplier, which takes longer the more accounts it has.
func (o *Operator) Recount(ctx context.Context, code string, begin func(supplier string)) (corrected []string, err error) {
	suppliers, err := o.recounted(ctx, code)
	if err != nil {
		return nil, err
	}
	for _, supplier := range suppliers {
		begin(supplier)
		found, err := o.recountSupplier(ctx, supplier)
		for _, one := range found {
			corrected = append(corrected, supplier+": "+one)
		}
		if err != nil {
			return corrected, err
		}
	}
	if code != "" {
		return corrected, nil
	}
	count, err := o.recountRuns(ctx)
	if count > 0 {
		corrected = append(corrected, fmt.Sprintf("%d sums of runs did not match the outcomes of their accounts", count))
	}
	if err != nil {
		return corrected, err
	}
	if count, err = o.correctTerms(ctx); count > 0 {
		corrected = append(corrected, fmt.Sprintf("%d accounts could not be found by what their documents say", count))
	}
	return corrected, err
}

// correctTerms corrects the search index, after everything that waits to be indexed was.
func (o *Operator) correctTerms(ctx context.Context) (corrected int, err error) {
	for more := true; more; {
		step, err := o.store.IndexTerms(ctx)
		if more = step.More; err != nil {
			return 0, storeError("search.recount", err)
		}
	}
	for step := (landfall.TermsStep{}); !step.Done; {
		if step, err = o.store.CorrectTerms(ctx, step.Next); err != nil {
			break
		}
		corrected += step.Corrected
	}
	if corrected > 0 {
		err = errors.Join(err, o.change(ctx, "search.recount", "", func(landfall.Tx) (string, error) {
			return fmt.Sprintf("%d accounts", corrected), nil
		}))
	}
	return corrected, storeError("search.recount", err)
}

// recounted returns the codes of the named supplier, or of all.
func (o *Operator) recounted(ctx context.Context, code string) ([]string, error) {
	if code != "" {
		facts, err := o.ShowSupplier(ctx, code)
		return []string{facts.Code}, err
	}
	all, err := o.Suppliers(ctx)
	codes := make([]string, len(all))
	for i, one := range all {
		codes[i] = one.Code
	}
	return codes, err
}

func (o *Operator) recountSupplier(ctx context.Context, code string) ([]string, error) {
	for try := 1; ; try++ {
		var kept, counted landfall.Tallies
		err := o.view(ctx, "recount", func(view landfall.View) (err error) {
			if kept, err = view.Tallies(ctx, code); err == nil {
				counted, err = view.Recount(ctx, code)
			}
			return err
		})
		wrong := kept.Differences(&counted)
		if err != nil || len(wrong) == 0 {
			return nil, err
		}
		overtaken := landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Someone else is correcting the sums of %s. Run this again.", code))
		err = o.change(ctx, "supplier.recount", code, func(tx landfall.Tx) (string, error) {
			mine, err := tx.CorrectTallies(ctx, code, &kept, &counted)
			if err == nil && !mine {
				err = overtaken
			}
			return fmt.Sprintf("%d sums: %s", len(wrong), wrong[0]), err
		})
		if !errors.Is(err, overtaken) || try == recountTries {
			return wrong, err
		}
	}
}

func (o *Operator) recountRuns(ctx context.Context) (corrected int, err error) {
	for at, done := (landfall.RunSumsPosition{}), false; !done && err == nil; {
		count, next := 0, at
		err = o.store.Update(ctx, func(tx landfall.Tx) (err error) {
			if count, next, done, err = tx.CorrectRunSums(ctx, at); err != nil || count == 0 {
				return err
			}
			return tx.AppendAudit(ctx, o.entry("run.recount", "", fmt.Sprintf("%d sums", count)))
		})
		if err == nil {
			corrected, at = corrected+count, next
		}
	}
	return corrected, storeError("run.recount", err)
}
