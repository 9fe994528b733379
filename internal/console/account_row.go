package console

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
)

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

// maxRowErrors is how many errors of an account a list shows.
const maxRowErrors = 5

// allErrors are the different errors of an account, with the fields they are in.
func (l accountRow) allErrors() (all []landfall.FailureGroup) {
	if l.Failure == nil {
		return nil
	}
	for _, one := range l.Failure.Violations {
		if group := (landfall.FailureGroup{Code: one.Code, Attr: landfall.AttrPattern(one.Attr)}); !slices.Contains(all, group) {
			all = append(all, group)
		}
	}
	if len(all) == 0 {
		all = append(all, landfall.FailureGroup{Code: l.Failure.Code})
	}
	return all
}

// Errors are the first errors of an account.
func (l accountRow) Errors() []landfall.FailureGroup {
	all := l.allErrors()
	return all[:min(len(all), maxRowErrors)]
}

// MoreErrors is how many errors the list does not show.
func (l accountRow) MoreErrors() int { return len(l.allErrors()) - len(l.Errors()) }

// Codes lists the first errors of an account as codes, for files.
func (l accountRow) Codes() string {
	var texts []string
	for _, one := range l.Errors() {
		texts = append(texts, strings.TrimSpace(one.Code+" "+one.Attr))
	}
	if more := l.MoreErrors(); more > 0 {
		texts = append(texts, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(texts, ", ")
}
