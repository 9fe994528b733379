package app

import (
	"testing"

	"landfall/internal/store/engine"
)

// Time limits are nested: the inner one expires first, so that the caller gets an
// answer and not a closed connection.
func TestTimeLimitsFit(t *testing.T) {
	limits, settings := engine.DefaultLimits(), Defaults()
	if inside := limits.QueueWait + limits.Transaction + limits.Commit + limits.Resolve; inside >= requestTime {
		t.Errorf("the database may take %s of the request's %s", inside, requestTime)
	}
	if settings.WriteTimeout < shortestAnswer || shortestAnswer <= requestTime {
		t.Errorf("a request may take %s, and its answer must be taken within %s", requestTime, settings.WriteTimeout)
	}
	if settings.DocumentTimeout+settings.VendorTimeout >= requestTime {
		t.Errorf("vendors and documents take all of %s", requestTime)
	}
}

func TestTimeLimitsThatDoNotFitAreRefused(t *testing.T) {
	for _, arguments := range [][]string{
		{"--write-timeout", "10s"}, {"--document-timeout", "15s", "--vendor-timeout", "15s"},
	} {
		if _, err := load(t, arguments, nil, ""); err == nil {
			t.Errorf("%q is taken", arguments)
		}
	}
}
