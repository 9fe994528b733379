package httpapi

import (
	"context"
	"errors"
	"testing"
)

// A probe hung for ten seconds while the database was silent.
func TestProbeDoesNotWaitForASilentDatabase(t *testing.T) {
	answered := make(chan struct{})
	r := &readiness{check: func(context.Context) error {
		<-answered
		return nil
	}}
	for range 2 {
		if err := r.cached(t.Context()); !errors.Is(err, errSilent) {
			t.Errorf("while the database is silent: %v", err)
		}
	}
	close(answered)
	if err := r.cached(t.Context()); err != nil {
		t.Errorf("when the database answers: %v", err)
	}
}
