package check

import (
	"context"
	"fmt"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/lib/money"
)

// maxProblems limits the problems that Whole lists.
const maxProblems = 20

// Whole checks a book as a whole, and much faster than Check: no account may be in it twice, because
// the later line would silently replace the earlier one, and it must have as many accounts as its
// control totals say. It returns what is wrong, a sentence each.
func Whole(ctx context.Context, of *book.Book, progress func(lines int)) (problems []string, err error) {
	totals, err := ReadTotals(ctx, of)
	if err != nil {
		return nil, err
	}
	known := map[accountHash]location{}
	lines, twice := 0, 0
	for number, file := range of.Files {
		if file.Kind != book.Accounts {
			continue
		}
		for block, err := range book.Map(ctx, file, peekAccount) {
			if err != nil {
				return nil, err
			}
			for _, read := range block {
				if read.key == (landfall.Key{}) {
					continue // the server says what is wrong with the line
				}
				hash := hashAccount(read.key)
				first, again := known[hash]
				if !again {
					known[hash] = location{file: int32(number), line: int32(read.line)} //nolint:gosec // bounded by memory
					continue
				}
				if twice++; twice <= maxProblems {
					problems = append(problems, fmt.Sprintf("%s: account %s is in the book twice, first at %s",
						file.At(read.line), read.key.External, describe(of, first)))
				}
			}
			lines += len(block)
			progress(lines)
		}
	}
	if twice > maxProblems {
		problems = append(problems, fmt.Sprintf("and %d more accounts are in the book twice", twice-maxProblems))
	}
	if totals != nil {
		claimed := totals.Claims[landfall.Measure{Kind: landfall.MeasureAccounts}].Count
		if claimed != nil && *claimed != money.TotalOf(int64(lines)) {
			problems = append(problems, fmt.Sprintf("%s says that there are %s accounts, but the book has %d", of.Totals, claimed.Digits(), lines))
		}
	}
	return problems, ctx.Err()
}

type peekedAccount struct {
	key  landfall.Key
	line int
}

// peekAccount reads the key of a line and nothing else.
func peekAccount(_ context.Context, line book.Line) peekedAccount {
	supplier, external, found := rules.Peek(line.Text, "import_supplier", "external_account_number")
	if !found {
		return peekedAccount{line: line.Number}
	}
	return peekedAccount{landfall.Key{Supplier: supplier, External: external}, line.Number}
}
