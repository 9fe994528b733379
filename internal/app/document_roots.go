package app

import (
	"context"
	"log/slog"

	"landfall"
	"landfall/internal/service/operate"
)

// warnAboutDocumentRoots speaks up about suppliers that could reach each other's documents,
// or find none. It keeps nobody from starting, nor does failing to ask.
func warnAboutDocumentRoots(ctx context.Context, store landfall.Transactor, log *slog.Logger) {
	err := store.View(ctx, func(view landfall.View) error {
		suppliers, err := view.Suppliers(ctx)
		for _, trouble := range operate.RootTroubles(suppliers) {
			log.Warn("a document root needs the operator", "trouble", trouble)
		}
		return err
	})
	if err != nil {
		log.Warn("document roots could not be compared", "error", err)
	}
}
