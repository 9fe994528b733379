package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"landfall/internal/lib/telemetry"
)

// TelemetrySettings say where traces and metrics go; nowhere without an
// endpoint.
type TelemetrySettings struct {
	Endpoint string
	Headers  string
	Percent  int
	Every    time.Duration
}

// observing are the settings of what is sent to a collector.
var observing = []setting{
	{"otlp-endpoint", "address of an OpenTelemetry collector that takes traces and metrics over HTTP, such as http://127.0.0.1:4318; none are sent when empty", func(s *Settings) value {
		return text(&s.Telemetry.Endpoint, "", optional(checkBaseURL))
	}},
	{"otlp-headers", "headers for it, name=value with commas between them, never a flag or a line of the config file", func(s *Settings) value {
		return secret(&s.Telemetry.Headers)
	}},
	{"otlp-trace-percent", "how many of a hundred requests are traced", func(s *Settings) value {
		return count(&s.Telemetry.Percent, 10, 0, 100)
	}},
	{"otlp-metrics-every", "how often metrics are sent", func(s *Settings) value {
		return duration(&s.Telemetry.Every, time.Minute, time.Second, time.Hour)
	}},
}

// openTelemetry begins to send where somebody listens.
func (a *App) openTelemetry(ctx context.Context) (err error) {
	wanted := a.settings.Telemetry
	if wanted.Endpoint == "" {
		return nil
	}
	a.telemetry, err = telemetry.Open(ctx, telemetry.Options{
		Endpoint: wanted.Endpoint, Headers: wanted.Headers, Percent: wanted.Percent, Every: wanted.Every,
		Version: a.version, Figures: a.api.Metrics.Gatherer(), Log: a.log.Logger,
	})
	if err != nil {
		return SettingError{fmt.Errorf("settings otlp-…: %w", err)}
	}
	a.api.Trace = func(ctx context.Context, r *http.Request, id string) (context.Context, func(string, string, int, string)) {
		return a.telemetry.Request(ctx, r, id)
	}
	return nil
}

// lastTelemetry is how long the end waits for what was not sent yet.
const lastTelemetry = 3 * time.Second

// closeTelemetry sends what is left, for a bounded time: a collector that is
// away must not hold up the end.
func (a *App) closeTelemetry() {
	if a.telemetry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastTelemetry)
	defer cancel()
	_ = a.telemetry.Close(ctx) // the log has said what does not arrive
}
