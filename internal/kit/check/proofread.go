// Package proofread reads a whole book without a server and says everything
// that is wrong with it, with the rules and the words of the service.
//
// What only the service can know is left out: whether the import supplier
// exists, what was imported before, and what payment vendors and document
// stores would say.
package check

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

// The codes that only a whole book can earn.
const (
	CodeAccountTwice = "account_given_twice" // refuses: the later one would silently replace the first
	CodeNotInBook    = "account_not_in_book" // warns: it may be on the platform already
)

// Mistake is a line with something wrong or strange in it.
type Mistake struct {
	File     book.File
	Line     book.Line
	External string // as far as it could be read
	Failure  landfall.Failure
	Warnings []landfall.Violation
}

// Wrong reports whether the service would refuse the line.
func (m Mistake) Wrong() bool { return m.Failure.Code != "" }

// Count is what was found in the lines of one kind.
type Count struct{ Lines, Wrong, Warned int }

// Result is what was found in all.
type Result struct {
	Counts   map[book.Kind]Count
	Wrong    landfall.FailureSummary // over lines of every kind
	Warnings landfall.FailureSummary
	Totals   *landfall.ControlTotals // what the source says it has; nil when it says nothing

	tallies landfall.Tallies // what is in the lines
}

// Valid reports whether every line would be taken.
func (p Result) Valid() bool { return p.Wrong.Accounts == 0 }

// Checker proofreads for a supplier with certain settings, at a certain time.
type Checker struct {
	Settings landfall.Supplier // its code is not looked at
	Now      time.Time
	// Mistake hears of every line that is not right, in the order of the book.
	// An error of it ends the reading.
	Mistake func(Mistake) error
	// Progress hears now and then how many lines were read.
	Progress func(lines int)

	known       map[accountHash]location // accounts, where they were first
	hasAccounts bool                     // whether the book has its accounts with it
	wrong       landfall.FailureTally
	warnings    landfall.FailureTally
	tallies     landfall.Tallies
	result      Result
	lines       int

	currencies []string // of the accounts, by number
}

// accountHash stands for an account's key: a book of millions fits in memory by
// its fingerprints alone, and half a SHA-256 does not meet its equal by chance.
type accountHash [16]byte

func hashAccount(key landfall.Key) (short accountHash) {
	sum := sha256.Sum256([]byte(key.Supplier + "\x00" + key.External))
	return accountHash(sum[:16])
}

// location is a line of the book, and the currency of the account in it.
type location struct {
	file, line int32
	currency   uint16
}

// Check reads the book on all cores, and tells its mistakes in order.
func (r *Checker) Check(ctx context.Context, of *book.Book) (Result, error) {
	r.known = map[accountHash]location{}
	r.result = Result{Counts: map[book.Kind]Count{}}
	r.hasAccounts = len(of.Of(book.Accounts)) > 0
	r.currencies = []string{r.Settings.Currency}
	totals, err := ReadTotals(ctx, of)
	if err != nil {
		return Result{}, err
	}
	for number, file := range of.Files {
		if err := r.checkFile(ctx, of, number, file); err != nil {
			return Result{}, err
		}
	}
	r.result.Wrong, r.result.Warnings = r.wrong.Summary(), r.warnings.Summary()
	r.result.Totals, r.result.tallies = totals, r.tallies
	return r.result, nil
}

// checkedLine is what was read in one line: mostly nothing but whose it is.
type checkedLine struct {
	line     book.Line
	key      landfall.Key
	readable bool // whether the key could be read
	failure  landfall.Failure
	warnings []landfall.Violation
	figures  landfall.Figures // what it brings
}

// checkFile reads one file: the rules on every core, then what concerns the whole
// book line by line.
func (r *Checker) checkFile(ctx context.Context, of *book.Book, number int, file book.File) error {
	check := func(ctx context.Context, line book.Line) checkedLine { return r.checkLine(ctx, file.Kind, line) }
	for block, err := range book.Map(ctx, file, check) {
		if err != nil {
			return err
		}
		for _, read := range block {
			if err := r.addLine(of, number, file, read); err != nil {
				return err
			}
		}
		r.lines += len(block)
		r.Progress(r.lines)
	}
	return ctx.Err()
}

// addLine counts a line and holds it against the lines before it.
func (r *Checker) addLine(of *book.Book, number int, file book.File, read checkedLine) error {
	currency := r.Settings.Currency
	if read.readable {
		currency = r.currencies[r.compareAccounts(of, number, file, &read).currency]
	}
	r.addFigures(read, currency)
	count := r.result.Counts[file.Kind]
	count.Lines++
	mistake := Mistake{File: file, Line: read.line, External: read.key.External, Failure: read.failure, Warnings: read.warnings}
	if mistake.Wrong() {
		count.Wrong++
		r.wrong.Add(WithoutPosition(read.failure))
	}
	if len(read.warnings) > 0 {
		count.Warned++
		r.warnings.Add(landfall.Failure{Violations: read.warnings})
	}
	r.result.Counts[file.Kind] = count
	if mistake.Wrong() || len(read.warnings) > 0 {
		return r.Mistake(mistake)
	}
	return nil
}

// WithoutPosition leaves out where broken JSON broke: it is the same mistake wherever
// the line was cut.
func WithoutPosition(failure landfall.Failure) landfall.Failure {
	if len(failure.Violations) == 1 && failure.Violations[0].Code == rules.CodeMalformedJSON {
		failure.Violations = nil
	}
	return failure
}

// compareAccounts looks for accounts that come twice, and for things that belong to
// accounts that do not come at all. Accounts are read first. It gives where the
// account was, if it was.
func (r *Checker) compareAccounts(of *book.Book, number int, file book.File, read *checkedLine) location {
	fingerprint := hashAccount(read.key)
	first, known := r.known[fingerprint]
	switch {
	case file.Kind == book.Accounts && known:
		violation := landfall.Violation{
			Attr: "external_account_number", Code: CodeAccountTwice,
			Detail: "The account comes twice in the book, first " + describe(of, first) + ".",
		}
		if read.failure.Code == "" {
			read.failure = landfall.Failure{Code: landfall.CodeAccountFailedValidation, Detail: "The account data is not valid."}
		}
		read.failure.Violations = append(read.failure.Violations, violation)
	case file.Kind == book.Accounts:
		first = location{int32(number), int32(read.line.Number), r.currencyNumber(read.figures.Currency)} //nolint:gosec // files and lines of a book, which memory bounds
		r.known[fingerprint] = first
	case r.hasAccounts && !known:
		read.warnings = append(read.warnings, landfall.Violation{
			Attr: "external_account_number", Code: CodeNotInBook,
			Detail: "The account is not in this book; it must be on the platform already.",
		})
	}
	return first
}

// checkLine applies the service's rules to a line.
func (r *Checker) checkLine(ctx context.Context, kind book.Kind, line book.Line) (read checkedLine) {
	read.line = line
	if line.TooLong {
		read.failure = landfall.Failure{Code: landfall.CodePayloadTooLarge, Detail: "The line is longer than any request may be."}
		read.figures = unreadableFigures(kind)
		return read
	}
	judged := checkers[kind](ctx, line.Text, &r.Settings, r.Now)
	read.key, read.figures, read.warnings = judged.key, judged.figures, judged.warnings
	read.readable = contract.ValidExternalNumber(read.key.External) && read.key.Supplier != ""
	if refusal, ok := errors.AsType[*landfall.Error](judged.err); ok {
		read.failure = landfall.Failure{Code: refusal.Code, Detail: refusal.Detail, Violations: refusal.Violations}
	}
	return read
}
