package answer

import (
	"errors"
	"strings"
	"testing"

	"landfall"
)

func TestEveryKindHasItsStatus(t *testing.T) {
	for kind := landfall.Internal; kind <= landfall.UpstreamUnavailable; kind++ {
		if int(kind) >= len(statusOfKind) || statusOfKind[kind] < 400 {
			t.Errorf("kind %d has no status", kind)
		}
	}
}

func TestForeignErrorTextIsNotShown(t *testing.T) {
	refusal := ErrorAnswer(errors.New("pq: secret"), nil)
	if refusal.Status != 500 || refusal.Code != landfall.CodeInternalError || strings.Contains(string(refusal.Body), "secret") {
		t.Errorf("got %d %s", refusal.Status, refusal.Body)
	}
	if !strings.Contains(refusal.Cause.Error(), "secret") {
		t.Error("the log would not learn why")
	}
}
