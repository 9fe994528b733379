package payvendor

import (
	"context"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// sandbox is a simulated vendor. The reference decides the reply, so that you can test
// every case of a migration.
type sandbox struct{}

// lookup simulates the outcome that the reference asks for.
func (sandbox) lookup(ctx context.Context, reference string) (result, error) {
	good := result{
		types:   landfall.InstructionTypes,
		active:  true,
		details: landfall.InstructionDetails{Status: "active", Scheme: "sandbox", LastDigits: sandboxDigits(reference), Expiry: "2035-12"},
	}
	switch sandboxWord(reference) {
	case "NOT_FOUND":
		return result{}, errNotFound
	case "TYPE_MISMATCH":
		good.types = nil
	case "INACTIVE":
		good.active, good.details.Status = false, "cancelled"
	case "REJECTED":
		return result{}, &statusError{status: http.StatusUnauthorized}
	case "UNAVAILABLE":
		return result{}, &statusError{status: http.StatusServiceUnavailable}
	case "OUT_OF_SERVICE":
		return result{}, errOutOfService
	case "SLOW":
		return good, sleep(ctx, 2*time.Second)
	case "TIMEOUT":
		return good, sleep(ctx, time.Hour)
	}
	return good, nil
}

// sandboxWords are the prefixes with a meaning, in upper case.
var sandboxWords = []string{
	"NOT_FOUND", "TYPE_MISMATCH", "INACTIVE", "REJECTED", "UNAVAILABLE", "OUT_OF_SERVICE", "SLOW", "TIMEOUT",
}

// sandboxWord returns the word that a reference starts with, in any case and with dashes
// or underscores: not-found-17 is NOT_FOUND.
func sandboxWord(reference string) string {
	reference = strings.ReplaceAll(strings.ToUpper(reference), "-", "_") + "_"
	for _, known := range sandboxWords {
		if strings.HasPrefix(reference, known+"_") {
			return known
		}
	}
	return ""
}

// sandboxDigits returns four digits that depend only on the reference.
func sandboxDigits(reference string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(reference)) // a hash never fails
	return strconv.Itoa(int(1000 + hash.Sum32()%9000))
}

// sleep sleeps unless the context ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
