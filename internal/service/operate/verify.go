package operate

import (
	"context"

	"landfall"
	"landfall/internal/service/audit"
)

// Verify checks everything in the database that can be checked. It calls each
// for every problem and returns how many processes it examined. It changes
// nothing and may run beside a server.
func (o *Operator) Verify(ctx context.Context, each func(landfall.Finding) error) (processes int, err error) {
	for seen, err := range o.store.Inspect(ctx) {
		processes = seen.Processes
		if err == nil && seen.Finding != nil {
			err = each(*seen.Finding)
		}
		if err != nil {
			return processes, storeError("verify", err)
		}
	}
	if err := o.VerifyRecords(ctx, each, nil); err != nil {
		return processes, err
	}
	audit, err := o.VerifyAudit(ctx, audit.Evidence{})
	if err == nil && audit.Problem != "" {
		err = each(landfall.Finding{What: "the audit log is not intact: " + audit.Problem})
	}
	return processes, err
}
