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
}

func mapRows[From, To any](rows iter.Seq2[From, error], turn func(From) To) iter.Seq2[To, error] {
	return func(yield func(To, error) bool) {
		for one, err := range rows {
			if !yield(turn(one), err) {
				return
			}
		}
	}
}

// cursor is where a list goes on behind a row.
func (l accountRow) cursor() string {
	if l.Failure != nil {
		return l.External
	}
	// Both parts are needed: accounts of one batch may be staged in the same microsecond.
	return strconv.FormatInt(l.StagedAt.UnixMicro(), 10) + "~" + l.External
}

// matches reports whether a failure is of a code and at a place.
func (l accountRow) matches(code, attr string) bool {
	if code == "" || l.Failure == nil {
		return true
	}
	// A failure without violations has its code in itself alone, as when a vendor was away.
	if len(l.Failure.Violations) == 0 {
		return l.Failure.Code == code
	}
	return slices.ContainsFunc(l.Failure.Violations, func(one landfall.Violation) bool {
		return one.Code == code && (attr == "" || landfall.AttrPattern(one.Attr) == attr)
	})
}

// Codes names what is wrong with an account.
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
	if len(all) == 0 {
		return l.Failure.Code
	}
	// A document may be wrong in every line; the row is there to be recognised, and the account's
	// page has all of it.
	const most = 5
	if len(all) > most {
		return strings.Join(all[:most], ", ") + ", and " + strconv.Itoa(len(all)-most) + " more"
	}
	return strings.Join(all, ", ")
}
