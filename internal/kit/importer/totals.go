package importer

import (
	"context"
	"errors"
	"net/http"

	"landfall/client"
)

// setTotals sets the control totals of the book on the server.
func (m *Importer) setTotals(ctx context.Context) error {
	if m.options.Book.Totals == "" || m.journal.state.Phases[PhaseTotals].Over {
		return nil
	}
	document, err := readTotals(m.options.Book.Totals)
	if err != nil {
		return err
	}
	m.watcher.Begin(PhaseTotals, 1)
	defer m.watcher.End(PhaseTotals)
	suppliers := m.journal.state.Supplier
	if m.options.Supplier != "" {
		suppliers = []string{m.options.Supplier}
	}
	if len(suppliers) != 1 {
		why := "the book names several import suppliers"
		if len(suppliers) == 0 {
			why = "no account of the book was accepted"
		}
		m.watcher.Notice(why + ", so its control totals were not set")
		return m.journal.finish(PhaseTotals, phaseState{})
	}
	err = m.retry(ctx, func(ctx context.Context) (bool, error) {
		_, err := m.client.SetControlTotals(ctx, suppliers[0], document)
		return true, err
	})
	if refusal, refused := errors.AsType[*client.Error](err); refused && refusal.Status >= http.StatusBadRequest && refusal.Status < http.StatusInternalServerError &&
		refusal.Status != http.StatusUnauthorized && refusal.Status != http.StatusTooManyRequests {
		// Everything else is done, so this belongs into the report.
		m.watcher.Notice("the control totals were not set: " + refusal.Detail)
		one := failure{Kind: string(PhaseTotals), Supplier: suppliers[0], Failure: *failureOf(refusal)}
		if err := m.recordFailure(one); err != nil {
			return err
		}
		m.countFailure(one)
		err = nil
	}
	if err != nil {
		return err
	}
	return m.journal.finish(PhaseTotals, phaseState{})
}
