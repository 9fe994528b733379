package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/lib/telemetry"
)

// TelemetrySettings configures traces and metrics. Without an Endpoint none are sent.
type TelemetrySettings struct {
	Endpoint        string
	Headers         string
	TracePercent    int
	MetricsInterval time.Duration
}

// telemetrySettings lists the settings about OpenTelemetry.
var telemetrySettings = []setting{
	{"otlp-endpoint", "URL of an OpenTelemetry collector that accepts OTLP over HTTP in JSON, such as http://127.0.0.1:4318; empty to send no traces and metrics", func(s *Settings) settingValue {
		return textSetting(&s.Telemetry.Endpoint, "", optional(checkBaseURL))
	}},
	{"otlp-headers", "headers for the collector, name=value separated by commas; only as an environment variable", func(s *Settings) settingValue {
		return secretSetting(&s.Telemetry.Headers)
	}},
	{"otlp-trace-percent", "percentage of requests to trace", func(s *Settings) settingValue {
		return countSetting(&s.Telemetry.TracePercent, 10, 0, 100)
	}},
	{"otlp-metrics-every", "interval between metrics", func(s *Settings) settingValue {
		return durationSetting(&s.Telemetry.MetricsInterval, time.Minute, time.Second, time.Hour)
	}},
}

// startTelemetry starts sending traces and metrics if a collector is configured.
func (a *App) startTelemetry() (err error) {
	settings := a.settings.Telemetry
	if settings.Endpoint == "" {
		return nil
	}
	a.telemetry, err = telemetry.Start(telemetry.Options{
		Endpoint: settings.Endpoint, Headers: settings.Headers, TracePercent: settings.TracePercent, MetricsInterval: settings.MetricsInterval,
		Version: a.version, Instance: a.self.Name(), Metrics: a.api.Metrics.Gatherer(), Log: a.log.Logger,
	})
	if err != nil {
		return SettingError{fmt.Errorf("settings otlp-…: %w", err)}
	}
	a.api.Trace = func(ctx context.Context, r *http.Request, id string) (context.Context, func(string, string, int, string)) {
		// Probes arrive every second from every balancer and are all alike.
		if r.URL.Path == "/readyz" || r.URL.Path == "/healthz" {
			return ctx, func(string, string, int, string) {}
		}
		return a.telemetry.StartRequest(ctx, r, id)
	}
	return nil
}

// closeTelemetry sends the last traces and metrics for a limited time, so that an
// unavailable collector does not delay the shutdown.
func (a *App) closeTelemetry() {
	if a.telemetry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.TelemetryShutdown)
	defer cancel()
	_ = a.telemetry.Close(ctx) // export errors were logged already
}
