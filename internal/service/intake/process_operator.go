package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
)

// ProcessAs is Process for an operator: it needs no grant, and what comes of it
// is in the audit under his name. The limits are everybody's. A dry run that
// passes is no error here: it creates nothing, so there is no number.
func (d *Desk) ProcessAs(ctx context.Context, actor, source string, request contract.ProcessRequest) (Created, error) {
	created, err := d.Process(ctx, landfall.Principal{Operator: actor, Source: source}, request)
	if errors.Is(err, errDryRun) {
		return Created{}, nil
	}
	return created, err
}
