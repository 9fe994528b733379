package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
)

// The log must show what is running: which version, on which database, on which
// addresses. It must warn of a listener that other machines can reach without
// TLS.
func TestStartupIsLogged(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		var log lockedBuffer
		r := startLogged(t, database, func(settings *app.Settings) { settings.ShutdownDelay = 0 }, &log)
		r.stop()
		<-r.done
		line := ""
		for received := range strings.Lines(log.String()) {
			if strings.Contains(received, "msg=listening ") {
				line = received
			}
			if strings.Contains(received, "level=WARN") {
				t.Errorf("a warning for nothing: %s", received)
			}
		}
		for _, want := range []string{"version=test", app.Settings{Database: database}.DatabaseName(), "address=127.0.0.1:", "ops_address=127.0.0.1:"} {
			if !strings.Contains(line, want) {
				t.Errorf("%q is missing in %q", want, line)
			}
		}
	})
}

func TestListeningWithoutTLSIsLogged(t *testing.T) {
	var log lockedBuffer
	r := startLogged(t, databases["sqlite"](t), func(settings *app.Settings) {
		settings.Listen, settings.OpsListen, settings.ShutdownDelay = "0.0.0.0:0", "[::]:0", 0
	}, &log)
	r.stop()
	<-r.done
	if received := log.String(); strings.Count(received, "level=WARN") != 2 || strings.Count(received, "without TLS on an address that other machines can reach") != 2 {
		t.Errorf("the log says:\n%s", received)
	}
}

// The log of a server without operators has a link that works, and the log of one with
// operators has none.
func TestSetUpLinkIsLogged(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		var log lockedBuffer
		r := startLogged(t, database, func(settings *app.Settings) { settings.ShutdownDelay = 0 }, &log)
		link := ""
		for end := time.Now().Add(time.Minute); link == "" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			_, link, _ = strings.Cut(log.String(), "link="+r.base)
		}
		link, _, _ = strings.Cut(link, "\n")
		if status, body := r.browser(t).get(strings.TrimPrefix(link, "/console/")); status != http.StatusOK || !strings.Contains(body, "first administrator") {
			t.Errorf("%q: %d\n%s", link, status, body)
		}
	})
	var log lockedBuffer
	w := newLoggedWorld(t, databases["sqlite"](t), func(settings *app.Settings) { settings.Listen, settings.ShutdownDelay = "127.0.0.1:0", 0 }, &log)
	w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := w.application.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, stop)
	if err := w.application.Run(ctx); err != nil {
		t.Error(err)
	}
	if received := log.String(); strings.Contains(received, "link=") || !strings.Contains(received, "msg=listening") {
		t.Errorf("a set-up link of a server with operators:\n%s", received)
	}
}
