package app

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"landfall/internal/api/httpapi"
	"landfall/internal/store/engine"
)

// alarmMetrics returns the metrics about what ends or runs out unnoticed: disk space,
// backups, standbys and API keys.
func (a *App) alarmMetrics(s *statsReader) []httpapi.LabelledMetric {
	seconds := func(at time.Time) float64 {
		if at.IsZero() {
			return 0
		}
		return float64(at.Unix())
	}
	disk := func(get func(free, size uint64) uint64) func(func(float64, ...string)) {
		return func(report func(float64, ...string)) {
			for name, folder := range a.dataFolders() {
				if free, size, known := DiskSpace(folder); known {
					report(float64(get(free, size)), name)
				}
			}
		}
	}
	return []httpapi.LabelledMetric{
		{Name: "landfall_disk_free_bytes", Labels: []string{"folder"},
			Help: "Free bytes on the disk of a folder that this server writes to: database (a SQLite file), bulk-spool, audit-checkpoints.",
			Read: disk(func(free, _ uint64) uint64 { return free })},
		{Name: "landfall_disk_size_bytes", Labels: []string{"folder"}, Help: "Size of that disk.",
			Read: disk(func(_, size uint64) uint64 { return size })},
		{Name: "landfall_backup_timestamp_seconds", Help: "When the last backup was recorded, by 'landfall backup' in either form; 0 is never.",
			Read: func(report func(float64, ...string)) { report(seconds(s.read().health.BackedUpAt)) }},
		{Name: "landfall_database_standbys", Help: "Standbys that are connected to the PostgreSQL server; 0 on SQLite.",
			Read: func(report func(float64, ...string)) { report(float64(s.read().health.Standbys)) }},
		{Name: "landfall_api_key_expiry_timestamp_seconds", Help: "When the next API key expires that was used within a day; 0 if none does.",
			Read: func(report func(float64, ...string)) { report(seconds(s.read().health.KeyEndsAt)) }},
	}
}

// dataFolders returns the folders that this server writes to, by the names of their
// settings.
func (a *App) dataFolders() map[string]string {
	folders := map[string]string{"bulk-spool": cmp.Or(a.settings.BulkSpool, os.TempDir())}
	if name, err := engine.Parse(a.settings.Database); err == nil && name.File() != "" {
		folders["database"] = filepath.Dir(name.File())
	}
	if a.settings.AuditCheckpoints != "" {
		folders["audit-checkpoints"] = filepath.Dir(a.settings.AuditCheckpoints)
	}
	return folders
}
