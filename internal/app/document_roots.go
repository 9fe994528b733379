package app

import (
	"context"
	"log/slog"

	"landfall"
	"landfall/internal/service/operate"
)

// warnAboutDocumentRoots warns about suppliers that could access each other's documents or find
// none. Neither that nor an error prevents the start.
func warnAboutDocumentRoots(ctx context.Context, store landfall.Transactor, log *slog.Logger) {
	err := store.View(ctx, func(view landfall.View) error {
		suppliers, err := view.Suppliers(ctx)
		for _, problem := range operate.RootProblems(suppliers) {
			log.Warn("document root needs attention", "problem", problem)
		}
		return err
	})
	if err != nil {
		log.Warn("cannot compare document roots", "error", err)
	}
}
