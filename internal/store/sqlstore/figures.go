package sqlstore

import (
	"errors"
	"strconv"
	"strings"

	"landfall"
)

// Figures are stored as one short string: the currency, then the numbers with a
// space before each; trailing zeros are left out. They are added up in Go,
// where sums of any size are exact, so the databases never look inside.

// noCurrency is stored for an account without a currency.
const noCurrency = "-"

// errFigures means that something other than this program wrote to the
// database.
var errFigures = errors.New("the stored figures cannot be read")

// figuresText encodes figures. A zero is written as the empty string, because
// most of the numbers are zero and every account is stored with its figures.
func figuresText(figures landfall.Figures) string {
	numbers := figures.Numbers()
	last := len(numbers)
	for last > 0 && *numbers[last-1] == 0 {
		last--
	}
	text := make([]byte, 0, 64)
	if figures.Currency == "" {
		text = append(text, noCurrency...)
	}
	text = append(text, figures.Currency...)
	for _, number := range numbers[:last] {
		if text = append(text, ' '); *number != 0 {
			text = strconv.AppendInt(text, *number, 10)
		}
	}
	return string(text)
}

// readFigures decodes the output of figuresText.
func readFigures(text string) (landfall.Figures, error) {
	var figures landfall.Figures
	currency, rest, more := strings.Cut(text, " ")
	if currency != noCurrency {
		figures.Currency = currency
	}
	for _, number := range figures.Numbers() {
		if !more {
			return figures, nil
		}
		var word string
		var err error
		if word, rest, more = strings.Cut(rest, " "); word == "" {
			continue
		}
		if *number, err = strconv.ParseInt(word, 10, 64); err != nil {
			return figures, errors.Join(errFigures, err)
		}
	}
	if more {
		return figures, errFigures
	}
	return figures, nil
}

// figuresInto scans a column of figures; NULL leaves them unchanged.
type figuresInto struct{ figures *landfall.Figures }

// Scan implements sql.Scanner.
func (f figuresInto) Scan(value any) (err error) {
	var kept string
	if err := (textInto{&kept}).Scan(value); err != nil || kept == "" {
		return err
	}
	*f.figures, err = readFigures(kept)
	return err
}

// accountFigures returns the figures of an account that is about to be written.
func accountFigures(account *landfall.Account) landfall.Figures {
	data := &account.Data
	figures := landfall.Figures{
		Currency: data.Currency, Accounts: 1,
		Customers: int64(len(data.Customers)), Notes: int64(len(data.Notes)),
		Statements: int64(len(data.Statements)), Instructions: int64(len(data.Instructions)),
	}
	for i := range data.SupplyAddresses {
		figures.SupplyPoints += int64(len(data.SupplyAddresses[i].SupplyPoints))
	}
	figures.CountEntries(account.Ledger)
	return figures
}
