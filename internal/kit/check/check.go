// Package check checks a whole book without a server, with the rules and messages of the service.
//
// It cannot check what only the service knows: whether the import supplier exists, what was
// imported before, and what payment vendors and document stores would say.
package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

// Codes that only exist for whole books.
const (
	CodeAccountTwice = "account_given_twice" // an error: the later line would silently replace the first
	CodeNotInBook    = "account_not_in_book" // a warning: the account may already be on the platform
)

// Mistake is a line with errors or warnings.
type Mistake struct {
	File     book.File
	Line     book.Line
	External string // if it could be parsed
	Failure  landfall.Failure
	Warnings []landfall.Violation
}

// Wrong reports whether the service would refuse the line.
func (m Mistake) Wrong() bool { return m.Failure.Code != "" }

// Count counts the lines of one kind.
type Count struct{ Lines, Wrong, Warned int }

// Result is the result of checking a book.
type Result struct {
	Counts   map[book.Kind]Count
	Wrong    landfall.FailureSummary // over all kinds of lines
	Warnings landfall.FailureSummary
	Totals   *landfall.ControlTotals // nil without control totals

	tallies landfall.Tallies // figures of the lines
}

// Valid reports whether the service would accept every line.
func (p Result) Valid() bool { return p.Wrong.Accounts == 0 }

// Checker checks books for a supplier with certain settings, at a certain time.
type Checker struct {
	Settings landfall.Supplier // its code is ignored
	Schema   *contract.Schema  // the fields, packs included; nil: those of suppliers without packs
	Now      time.Time
	// Mistake is called for every line with errors or warnings, in order. An error ends the check.
	Mistake func(Mistake) error
	// Progress is called now and then with the number of lines read.
	Progress func(lines int)

	known       map[accountHash]location // where each account was first seen
	hasAccounts bool                     // whether the book contains accounts
	wrong       landfall.FailureTally
	warnings    landfall.FailureTally
	tallies     landfall.Tallies
	result      Result
	lines       int
	identifiers recordSorter[sharedRecord]
	sortLimit   int // 0: sortMemory

	currencies []string // of the accounts, by index
}

// accountHash stands for an account's key, so that the keys of millions of accounts fit into
// memory. Half of a SHA-256 has no accidental collisions.
type accountHash [16]byte

func hashAccount(key landfall.Key) (short accountHash) {
	sum := sha256.Sum256([]byte(key.Supplier + "\x00" + key.External))
	return accountHash(sum[:16])
}

// location is a line of the book and the currency of its account.
type location struct {
	file, line int32
	currency   uint16
}

// Check checks a book on all cores and reports its mistakes in order.
func (r *Checker) Check(ctx context.Context, of *book.Book) (Result, error) {
	r.known = map[accountHash]location{}
	r.identifiers = recordSorter[sharedRecord]{limit: cmp.Or(r.sortLimit, sortMemory)}
	defer r.identifiers.close()
	if r.Schema == nil {
		r.Schema = contract.PlainSchema()
	}
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
	if err := r.checkAcross(ctx, of); err != nil {
		return Result{}, err
	}
	r.result.Wrong, r.result.Warnings = r.wrong.Summary(), r.warnings.Summary()
	r.result.Totals, r.result.tallies = totals, r.tallies
	return r.result, nil
}

// checkedLine is a line after checking it by itself.
type checkedLine struct {
	line     book.Line
	key      landfall.Key
	readable bool // whether the key could be parsed
	failure  landfall.Failure
	warnings []landfall.Violation
	figures  landfall.Figures // what it brings

	identifiers []landfall.Identifier // that other accounts may have
}

// checkFile checks one file: single lines on all cores, then the rest line by line.
func (r *Checker) checkFile(ctx context.Context, of *book.Book, number int, file book.File) error {
	checkLine := func(ctx context.Context, line book.Line) checkedLine { return r.checkLine(ctx, file.Kind, line) }
	for block, err := range book.Map(ctx, file, checkLine) {
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

// addLine counts a line and compares it with the lines before it.
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
	if !mistake.Wrong() {
		if err := r.collectIdentifiers(number, read); err != nil {
			return err
		}
	}
	if mistake.Wrong() || len(read.warnings) > 0 {
		return r.Mistake(mistake)
	}
	return nil
}

// WithoutPosition removes the position of a JSON syntax error, so that such errors are grouped
// together.
func WithoutPosition(failure landfall.Failure) landfall.Failure {
	if len(failure.Violations) == 1 && failure.Violations[0].Code == rules.CodeMalformedJSON {
		failure.Violations = nil
	}
	return failure
}

// compareAccounts looks for duplicate accounts and for lines without an account. Accounts are read
// first. It returns where the account was first seen.
func (r *Checker) compareAccounts(of *book.Book, number int, file book.File, read *checkedLine) location {
	hash := hashAccount(read.key)
	first, known := r.known[hash]
	switch {
	case file.Kind == book.Accounts && known:
		violation := landfall.Violation{
			Attr: "external_account_number", Code: CodeAccountTwice,
			Detail: "The account is in the book twice, first at " + describe(of, first) + ".",
		}
		if read.failure.Code == "" {
			read.failure = landfall.Failure{Code: landfall.CodeAccountFailedValidation, Detail: "The account data is not valid."}
		}
		read.failure.Violations = append(read.failure.Violations, violation)
	case file.Kind == book.Accounts:
		first = location{int32(number), int32(read.line.Number), r.currencyNumber(read.figures.Currency)} //nolint:gosec // bounded by memory
		r.known[hash] = first
	case r.hasAccounts && !known:
		read.warnings = append(read.warnings, landfall.Violation{
			Attr: "external_account_number", Code: CodeNotInBook,
			Detail: "The account is not in this book; it must already be on the platform.",
		})
	}
	return first
}

// checkLine applies the service's rules to a line.
func (r *Checker) checkLine(ctx context.Context, kind book.Kind, line book.Line) (read checkedLine) {
	read.line = line
	if line.TooLong {
		read.failure = landfall.Failure{Code: landfall.CodePayloadTooLarge, Detail: "The line is too long for a request."}
		read.figures = unreadableFigures(kind)
		return read
	}
	verdict := checkers[kind](ctx, r.Schema, line.Text, &r.Settings, r.Now)
	read.key, read.figures, read.warnings, read.identifiers = verdict.key, verdict.figures, verdict.warnings, verdict.identifiers
	read.readable = contract.ValidExternalNumber(read.key.External) && read.key.Supplier != ""
	if refusal, ok := errors.AsType[*landfall.Error](verdict.err); ok {
		read.failure = landfall.Failure{Code: refusal.Code, Detail: refusal.Detail, Violations: refusal.Violations}
	}
	return read
}
