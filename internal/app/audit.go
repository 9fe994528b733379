package app

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
	"landfall/internal/service/audit"
)

// openAudit creates the chainer of the audit. It writes checkpoints if the
// settings name a key or a checkpoint file.
func (a *App) openAudit() error {
	options := audit.Options{Log: a.log.Logger, Every: a.settings.AuditEvery}
	if a.settings.AuditKeyFile != "" || a.settings.AuditCheckpoints != "" {
		writer, err := a.settings.checkpointWriter(a.log)
		if err != nil {
			return SettingError{err}
		}
		options.Checkpoints = writer
	}
	a.chainer = audit.New(a.store, options)
	return nil
}

// checkpointWriter returns the checkpoint writer. If the folder is not writable, the error
// names the setting: the server must not start without its checkpoints.
func (s Settings) checkpointWriter(log *Log) (*audit.CheckpointWriter, error) {
	key, err := s.auditKey()
	if err != nil {
		return nil, err
	}
	writer, err := audit.NewCheckpointWriter(key, s.AuditCheckpoints, log.Logger)
	return writer, settingErr("audit-checkpoints", err)
}

// auditKey reads the key that signs checkpoints; nil if none is configured.
func (s Settings) auditKey() (ed25519.PrivateKey, error) {
	if s.AuditKeyFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.AuditKeyFile)
	if err != nil {
		return nil, settingErr("audit-key-file", err)
	}
	key, err := audit.ReadKey(text)
	return key, settingErr("audit-key-file", err)
}

func settingErr(settingName string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("setting %s: %w", settingName, err)
}

// maxUnsealed limits the counting of entries that are not chained yet.
const maxUnsealed = 10_000

// auditReadings returns the metrics about the audit chain.
func (a *App) auditReadings() []httpapi.FuncMetric {
	var mu sync.Mutex
	var backlog landfall.AuditBacklog
	var read time.Time
	waiting := func(get func(landfall.AuditBacklog) float64) func() float64 {
		return func() float64 {
			mu.Lock()
			defer mu.Unlock()
			if time.Since(read) > limits.MetricsAge {
				ctx, cancel := context.WithTimeout(context.Background(), limits.MetricsAge)
				defer cancel()
				var found landfall.AuditBacklog
				if err := a.store.View(ctx, func(view landfall.View) (err error) {
					found, err = view.AuditBacklog(ctx, maxUnsealed)
					return err
				}); err == nil {
					backlog = found
				}
				// Set it after a failure too, so that metrics do not put more load on
				// a database in trouble.
				read = time.Now()
			}
			return get(backlog)
		}
	}
	count := func(get func(audit.Counts) int64) func() float64 {
		return func() float64 {
			if a.chainer == nil {
				return 0
			}
			return float64(get(a.chainer.Counts()))
		}
	}
	return []httpapi.FuncMetric{
		{Name: "landfall_audit_entries_sealed_total", Help: "Audit entries that this replica chained.", Counts: true,
			Read: count(func(c audit.Counts) int64 { return c.Chained })},
		{Name: "landfall_audit_checkpoints_total", Help: "Audit checkpoints that this replica wrote.", Counts: true,
			Read: count(func(c audit.Counts) int64 { return c.Checkpoints })},
		{Name: "landfall_audit_failures_total", Help: "Times that entries could not be chained or a checkpoint could not be written.", Counts: true,
			Read: count(func(c audit.Counts) int64 { return c.Failures })},
		{Name: "landfall_audit_unsealed_entries", Help: "Audit entries that are not chained yet, counted up to ten thousand.",
			Read: waiting(func(b landfall.AuditBacklog) float64 { return float64(b.Entries) })},
		{Name: "landfall_audit_unsealed_seconds", Help: "Age of the oldest audit entry that is not chained yet.",
			Read: waiting(func(b landfall.AuditBacklog) float64 { return b.Age.Seconds() })},
	}
}
