package console

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// accountRow is one account of a list.
type accountRow struct {
	External      string
	AccountNumber string
	State         string
	StagedAt      time.Time
	CreatedAt     time.Time
	FailedAt      time.Time
	Failure       *landfall.Failure
	part          string // of the list of all accounts
}

func failedRow(one landfall.FailedProcess) accountRow {
	row := accountRow{External: one.External, State: "failed", FailedAt: one.Failure.At, Failure: &one.Failure}
	switch {
	case one.Failure.AtStaging:
		row.State = "refused"
	case one.Failure.Posting != "":
		row.State = "imported"
	}
	return row
}

func processRow(one landfall.ProcessEntry, listState string) accountRow {
	row := accountRow{External: one.External, AccountNumber: one.AccountNumber, State: "staged", StagedAt: one.FirstStagedAt, CreatedAt: one.AccountCreatedAt}
	switch {
	case listState == "skipped":
		row.State = "skipped"
	case one.AccountNumber != "":
		row.State = "imported"
	case one.Failed:
		row.State = "failed"
	}
	return row
}

func mapRows[From, To any](rows iter.Seq2[From, error], convert func(From) To) iter.Seq2[To, error] {
	return func(yield func(To, error) bool) {
		for row, err := range rows {
			if !yield(convert(row), err) {
				return
			}
		}
	}
}

// cursor is the position after a row.
func (l accountRow) cursor() string {
	position := processCursor(l.StagedAt, l.External)
	if l.Failure != nil {
		position = l.External
	}
	if l.part != "" {
		return l.part + "!" + position
	}
	return position
}

// processCursor writes a position in a list of accounts. Accounts of one batch may
// have the same time, so it has both parts.
func processCursor(at time.Time, external string) string {
	return strconv.FormatInt(at.UnixMicro(), 10) + "~" + external
}

// parseCursor reads a position. It is nil if there is none.
func parseCursor(text string) *landfall.ProcessCursor {
	at, external, is := strings.Cut(text, "~")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !is || err != nil {
		return nil
	}
	return &landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(micros), External: external}
}

// matches reports whether an account is in a list, and failed with a code in a field.
func (l accountRow) matches(state, code, attr string) bool {
	if state == "staged" && l.State != "staged" { // it comes from the list of all that can be created
		return false
	}
	if code == "" || l.Failure == nil {
		return true
	}
	// Some failures have no violations, as when a vendor is unavailable.
	if len(l.Failure.Violations) == 0 {
		return l.Failure.Code == code
	}
	return slices.ContainsFunc(l.Failure.Violations, func(one landfall.Violation) bool {
		return one.Code == code && (attr == "" || landfall.AttrPattern(one.Attr) == attr)
	})
}

// Codes lists the first errors of an account.
func (l accountRow) Codes() string {
	if l.Failure == nil {
		return ""
	}
	var all []string
	for _, one := range l.Failure.Violations {
		if text := strings.TrimSpace(one.Code + " " + landfall.AttrPattern(one.Attr)); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	const most = 5
	switch {
	case len(all) == 0:
		return l.Failure.Code
	case len(all) > most:
		return strings.Join(all[:most], ", ") + ", and " + strconv.Itoa(len(all)-most) + " more"
	}
	return strings.Join(all, ", ")
}
