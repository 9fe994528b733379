package app

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/service/auth"
)

// logins writes down who obtained tokens, or tried to, and counts it.
type logins struct {
	log    *slog.Logger
	counts map[auth.Outcome]*atomic.Int64
	reused atomic.Int64
	// overQuota is told of organisations that have had their tokens for now.
	overQuota func(organisation, quota string)
}

// newLogins begins counting with every outcome there is, so that none appears
// out of nothing.
func newLogins(log *slog.Logger) *logins {
	l := &logins{log: log, counts: map[auth.Outcome]*atomic.Int64{}, overQuota: func(string, string) {}}
	for _, outcome := range auth.Outcomes {
		l.counts[outcome] = new(atomic.Int64)
	}
	return l
}

// watch is told of every login. A refresh token used twice is worth a warning:
// somebody has a copy.
func (l *logins) watch(login auth.Login) {
	// The map stays as it was made, so it needs no lock; every outcome is in it.
	l.counts[login.Outcome].Add(1)
	if login.Outcome == auth.OverQuota {
		l.overQuota(login.Organisation, landfall.QuotaTokens)
	}
	level := slog.LevelInfo
	if login.Reused {
		l.reused.Add(1)
		level = slog.LevelWarn
	}
	fields := []slog.Attr{
		slog.String("outcome", string(login.Outcome)), slog.String("with", login.With),
		slog.String("key", login.KeyID), slog.String("address", login.Source),
	}
	if login.Organisation != "" {
		fields = append(fields, slog.String("organisation", login.Organisation))
	}
	if login.Reused {
		fields = append(fields, slog.Bool("reused", true))
	}
	l.log.LogAttrs(context.Background(), level, "login", fields...)
}

// readings shows the counts.
func (l *logins) readings() []httpapi.FuncMetric {
	readings := []httpapi.FuncMetric{{
		Name: "landfall_refresh_tokens_reused_total", Help: "Refresh tokens that were used twice, which ended their families.",
		Counts: true, Read: func() float64 { return float64(l.reused.Load()) },
	}}
	for _, outcome := range auth.Outcomes {
		count := l.counts[outcome]
		readings = append(readings, httpapi.FuncMetric{
			Name: "landfall_logins_" + string(outcome) + "_total", Help: "Attempts to obtain tokens that were " + strings.ReplaceAll(string(outcome), "_", " ") + ".",
			Counts: true, Read: func() float64 { return float64(count.Load()) },
		})
	}
	return readings
}
