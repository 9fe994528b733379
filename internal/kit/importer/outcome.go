package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
)

type lineOutcome int

const (
	outcomeDone    lineOutcome = iota
	outcomeThere               // it already existed
	outcomeDiffers             // the account exists and differs from the line
	outcomeFailed              // until it is fixed
	outcomeUnsent              // its account does not exist
)

// outcomeOf reads an answer. What already existed is not a failure: usually it is from an
// interrupted attempt.
func outcomeOf(kind book.Kind, answer client.Answer) (lineOutcome, *landfall.Failure) {
	if refusal, failed := errors.AsType[*client.Error](answer.Err()); failed {
		if refusal.Code == landfall.CodeAlreadyImported {
			return existingAccount(answer.Body)
		}
		return outcomeFailed, failureOf(refusal)
	}
	if answer.Status != http.StatusCreated {
		return outcomeDone, nil
	}
	if nothingAdded(kind, answer.Body) {
		return outcomeThere, nil
	}
	items := postedItems(kind, answer.Body)
	if failed := differingItems(kind, items); failed != nil {
		return outcomeFailed, failed
	}
	if allExist(items) {
		return outcomeThere, nil
	}
	return outcomeDone, nil
}

// existingAccount tells an account that exists as in the book from one that differs. The server
// names the attrs; without a list, the account's personal data was erased.
func existingAccount(body json.RawMessage) (lineOutcome, *landfall.Failure) {
	var refused struct {
		Differences []string `json:"differences"`
	}
	if json.Unmarshal(body, &refused) != nil || len(refused.Differences) == 0 {
		return outcomeThere, nil
	}
	differs := &landfall.Failure{Code: landfall.CodeAlreadyImported}
	for _, attr := range refused.Differences {
		differs.Violations = append(differs.Violations, landfall.Violation{Attr: attr})
	}
	return outcomeDiffers, differs
}

// queryFor is the query of a line's call. Notes and transactions always say whether they existed;
// the others only if asked.
func queryFor(kind book.Kind) url.Values {
	if kind == book.Statements || kind == book.Instructions {
		return url.Values{"include_added": {"true"}}
	}
	return nil
}

// nothingAdded reports whether everything in a posting already existed. Bodies are long, so only
// candidates are parsed.
func nothingAdded(kind book.Kind, body json.RawMessage) bool {
	var posted struct {
		Added *int `json:"added"`
	}
	return queryFor(kind) != nil && bytes.Contains(body, []byte(`"added":0`)) &&
		json.Unmarshal(body, &posted) == nil && posted.Added != nil && *posted.Added == 0
}

// failureOf converts a refusal.
func failureOf(refusal *client.Error) *landfall.Failure {
	failed := &landfall.Failure{Code: refusal.Code, Detail: refusal.Detail}
	for _, violation := range refusal.Violations {
		failed.Violations = append(failed.Violations, landfall.Violation{
			Code: violation.Code, Attr: violation.Attr, Detail: violation.Detail,
		})
	}
	return failed
}

// postedItem is the result of a note or a transaction.
type postedItem struct {
	Status      string   `json:"status"`
	Differences []string `json:"differences"`
}

// postedItems parses the results of a posting, if something in it already existed.
func postedItems(kind book.Kind, body json.RawMessage) []postedItem {
	if !bytes.Contains(body, []byte("_ALREADY_EXISTS")) {
		return nil
	}
	var items []postedItem
	var err error
	switch kind {
	case book.Notes:
		err = json.Unmarshal(body, &items)
	case book.Transactions:
		var answer struct {
			Results []postedItem `json:"results"`
		}
		err = json.Unmarshal(body, &answer)
		items = answer.Results
	}
	// If the answer cannot be parsed, the line counts as done, as its status says.
	if err != nil {
		return nil
	}
	return items
}

// differingItems reports items that exist with other values: they were neither added nor changed.
func differingItems(kind book.Kind, items []postedItem) *landfall.Failure {
	code, list, detail := landfall.CodeNoteExists, "notes", "The account has a note with this body but another value here."
	if kind == book.Transactions {
		code, list, detail = landfall.CodeTransactionExists, "transactions", "The account has a transaction with this transaction_id but another value here."
	}
	var failed *landfall.Failure
	for i, one := range items {
		for _, field := range one.Differences {
			if failed == nil {
				failed = &landfall.Failure{Code: code, Detail: "The account already has it, with other values."}
			}
			failed.Violations = append(failed.Violations, landfall.Violation{
				Code: code, Attr: list + "." + strconv.Itoa(i) + "." + field, Detail: detail,
			})
		}
	}
	return failed
}

// allExist reports whether everything in a posting already existed.
func allExist(items []postedItem) bool {
	for _, one := range items {
		if one.Status != "NOTE_ALREADY_EXISTS" && one.Status != "TRANSACTION_ALREADY_EXISTS" {
			return false
		}
	}
	return len(items) > 0
}
