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

// sandbox is a vendor that exists nowhere: the reference chooses the answer,
// always the same one, so that every path of a migration can be tried out.
type sandbox struct{}

// ask plays every outcome a vendor can have, chosen by a word in the reference, so
// that integrators can try them without a contract.
func (sandbox) ask(ctx context.Context, reference string) (answer, error) {
	good := answer{
		types:   landfall.InstructionTypes,
		active:  true,
		details: landfall.InstructionDetails{Status: "active", Scheme: "sandbox", LastDigits: sandboxDigits(reference), Expiry: "2035-12"},
	}
	switch sandboxWord(reference) {
	case "NOT_FOUND":
		return answer{}, errMissing
	case "TYPE_MISMATCH":
		good.types = nil
	case "INACTIVE":
		good.active, good.details.Status = false, "cancelled"
	case "REJECTED":
		return answer{}, &statusError{status: http.StatusUnauthorized}
	case "UNAVAILABLE":
		return answer{}, &statusError{status: http.StatusServiceUnavailable}
	case "OUT_OF_SERVICE":
		return answer{}, errOutOfService
	case "SLOW":
		return good, wait(ctx, 2*time.Second)
	case "TIMEOUT":
		return good, wait(ctx, time.Hour)
	}
	return good, nil
}

// sandboxWords are the beginnings that mean something, in capitals.
var sandboxWords = []string{
	"NOT_FOUND", "TYPE_MISMATCH", "INACTIVE", "REJECTED", "UNAVAILABLE", "OUT_OF_SERVICE", "SLOW", "TIMEOUT",
}

// sandboxWord gives the word a reference begins with, whatever its case and
// whether it is written with dashes: not-found-17 is NOT_FOUND.
func sandboxWord(reference string) string {
	reference = strings.ReplaceAll(strings.ToUpper(reference), "-", "_") + "_"
	for _, word := range sandboxWords {
		if strings.HasPrefix(reference, word+"_") {
			return word
		}
	}
	return ""
}

// sandboxDigits makes up four digits that depend on the reference alone.
func sandboxDigits(reference string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(reference)) // a hash never fails
	return strconv.Itoa(int(1000 + hash.Sum32()%9000))
}

// wait passes time unless the question is taken back.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
