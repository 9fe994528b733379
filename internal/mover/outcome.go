package mover

import (
	"encoding/json"
	"errors"
	"net/http"

	"landfall"
	"landfall/client"
	"landfall/internal/book"
)

// outcome is what became of a line.
type outcome int

const (
	outcomeDone   outcome = iota
	outcomeThere          // it was so before
	outcomeFailed         // and stays so until it is mended
	outcomeUnsent         // its account does not exist
)

// judge reads an answer. What was there already is not a failure: most of all
// it is the trace of an attempt that was cut off.
func judge(kind book.Kind, answer client.Answer) (outcome, *landfall.Failure) {
	if refusal, failed := errors.AsType[*client.Error](answer.Err()); failed {
		if refusal.Code == landfall.CodeAlreadyImported {
			return outcomeThere, nil
		}
		return outcomeFailed, failureOf(refusal)
	}
	if answer.Status == http.StatusCreated && allThere(kind, answer.Body) {
		return outcomeThere, nil
	}
	return outcomeDone, nil
}

// failureOf says a refusal in the words of the dictionary.
func failureOf(refusal *client.Error) *landfall.Failure {
	failed := &landfall.Failure{Code: refusal.Code, Detail: refusal.Detail}
	for _, violation := range refusal.Violations {
		failed.Violations = append(failed.Violations, landfall.Violation{
			Code: violation.Code, Attr: violation.Attr, Detail: violation.Detail,
		})
	}
	return failed
}

// allThere reports whether everything in a posting was on the account already.
func allThere(kind book.Kind, body json.RawMessage) bool {
	type item struct {
		Status string `json:"status"`
	}
	var items []item
	switch kind {
	case book.Notes:
		if json.Unmarshal(body, &items) != nil {
			return false
		}
	case book.Transactions:
		var answer struct {
			Results []item `json:"results"`
		}
		if json.Unmarshal(body, &answer) != nil {
			return false
		}
		items = answer.Results
	}
	for _, one := range items {
		if one.Status != "NOTE_ALREADY_EXISTS" && one.Status != "TRANSACTION_ALREADY_EXISTS" {
			return false
		}
	}
	return len(items) > 0
}
