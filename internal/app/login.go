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

// logins logs and counts successful and failed attempts to obtain tokens.
type logins struct {
	log    *slog.Logger
	counts map[auth.Outcome]*atomic.Int64
	reused atomic.Int64
	// overQuota is called for an organisation that has used up its tokens for now.
	overQuota func(organisation, quota string)
}

// newLogins starts every outcome at zero, so that each metric exists from the
// beginning.
func newLogins(log *slog.Logger) *logins {
	l := &logins{log: log, counts: map[auth.Outcome]*atomic.Int64{}, overQuota: func(string, string) {}}
	for _, outcome := range auth.Outcomes {
		l.counts[outcome] = new(atomic.Int64)
	}
	return l
}

// watch is called for every login. A refresh token that is used twice is logged
// as a warning, because a copy of it exists.
func (l *logins) watch(login auth.Login) {
	// The map never changes, so it needs no lock; it contains every outcome.
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

// signIns logs and counts sign-ins to the console.
type signIns struct {
	log    *slog.Logger
	counts map[auth.SignInOutcome]*atomic.Int64
}

// newSignIns starts every outcome at zero, as newLogins does.
func newSignIns(log *slog.Logger) *signIns {
	s := &signIns{log: log, counts: map[auth.SignInOutcome]*atomic.Int64{}}
	for _, outcome := range auth.SignInOutcomes {
		s.counts[outcome] = new(atomic.Int64)
	}
	return s
}

// watch is called for every sign-in. A wrong code after a right password is the most
// serious refusal: somebody may know the password.
func (s *signIns) watch(attempt auth.Attempt) {
	s.counts[attempt.Outcome].Add(1)
	fields := []any{"outcome", string(attempt.Outcome), "operator", attempt.Operator, "address", attempt.Address, "known", attempt.Known}
	if attempt.Outcome == auth.SignInGranted {
		s.log.Info("console sign-in", fields...)
		return
	}
	s.log.Warn("console sign-in refused", fields...)
}

func (s *signIns) readings() []httpapi.FuncMetric {
	help := map[auth.SignInOutcome]string{
		auth.SignInGranted: "were granted", auth.SignInRefused: "had a wrong name or password", auth.SignInWrongCode: "had the right password and a wrong code",
		auth.SignInSlowed: "came too fast and were not checked", auth.SignInUnavailable: "failed because of the database",
	}
	var readings []httpapi.FuncMetric
	for _, outcome := range auth.SignInOutcomes {
		count := s.counts[outcome]
		readings = append(readings, httpapi.FuncMetric{
			Name: "landfall_console_sign_ins_" + string(outcome) + "_total", Help: "Sign-ins to the console that " + help[outcome] + ".",
			Counts: true, Read: func() float64 { return float64(count.Load()) },
		})
	}
	return readings
}
