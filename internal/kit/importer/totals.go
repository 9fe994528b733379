package importer

import "context"

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
		m.watcher.Notice("the book names several import suppliers, so its control totals were not set")
		return m.journal.finish(PhaseTotals, phaseState{})
	}
	err = m.retry(ctx, func(ctx context.Context) (bool, error) {
		_, err := m.client.SetControlTotals(ctx, suppliers[0], document)
		return true, err
	})
	if err != nil {
		return err
	}
	return m.journal.finish(PhaseTotals, phaseState{})
}
