package operate

import (
	"context"

	"landfall"
	"landfall/internal/service/audit"
)

// Verify checks everything in the database that can be checked, hands over what
// does not hold, and says how many processes it looked at. It changes nothing
// and may run beside a server.
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
	audit, err := o.VerifyAudit(ctx, audit.Evidence{})
	if err == nil && audit.Problem != "" {
		err = each(landfall.Finding{What: "the audit does not hold: " + audit.Problem})
	}
	return processes, err
}
