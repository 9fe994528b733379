package contract

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/rules"
)

// TransactionImportError is the status of a refused transactions import.
const TransactionImportError = "TRANSACTION_IMPORT_ERROR"

// TransactionsRequest brings transactions for an account.
type TransactionsRequest struct{ envelopeRequest }

// ReadTransactions reads the body of a transactions import. Its only error is
// a *landfall.Error for bytes that are no strict JSON object.
func ReadTransactions(body []byte) (*TransactionsRequest, error) {
	envelope, err := readEnvelope(transactionsTable, body)
	if err != nil {
		return nil, err
	}
	return &TransactionsRequest{envelope}, nil
}

// Check tells everything that is wrong with the payload. Twins inside the
// request are looked for only when the caller compares identifiers at all.
func (r *TransactionsRequest) Check(supplier *landfall.Supplier, now time.Time, compare bool) Verdict {
	c := newChecker(r.document, supplier, now)
	var known *seen
	if compare {
		known = new(seen)
	}
	c.transactions(r.list("transactions"), known)
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Transactions gives the transactions of a request without errors, each with
// its own JSON.
func (r *TransactionsRequest) Transactions() []landfall.Transaction {
	return each(r.list("transactions"), bindTransaction)
}

// Refusal gives a verdict's errors the body that a transactions import has: the
// common form and, beside it, the first failing transaction as it was sent.
// It is nil when there are no errors.
func (r *TransactionsRequest) Refusal(verdict Verdict) *landfall.Error {
	refusal := verdict.Err()
	if refusal == nil {
		return nil
	}
	index, reason := -1, refusal.Detail
	for _, violation := range refusal.Violations {
		if found := transactionIndex(violation.Attr); found >= 0 {
			index, reason = found, violation.Detail
			break
		}
	}
	return r.withTransaction(refusal, index, reason)
}

// Refuse refuses one transaction for a reason that the payload alone does not
// show, such as a date outside the open statement period.
func (r *TransactionsRequest) Refuse(index int, field, code, detail string) *landfall.Error {
	refusal := landfall.Refuse(code, detail)
	refusal.Violations = []landfall.Violation{{
		Code: code, Attr: "transactions." + strconv.Itoa(index) + "." + field, Detail: detail,
	}}
	return r.withTransaction(refusal, index, detail)
}

func (r *TransactionsRequest) withTransaction(refusal *landfall.Error, index int, reason string) *landfall.Error {
	data := json.RawMessage("null")
	if items := r.list("transactions").Items(); index >= 0 && index < len(items) && items[index].Present() {
		data = json.RawMessage(items[index].Raw())
	}
	refusal.Members = []landfall.Member{
		{Name: "transaction_data", Value: data},
		{Name: "error_detail", Value: reason},
		{Name: "status", Value: TransactionImportError},
	}
	return refusal
}

// transactionIndex reads N from transactions.N.field, or gives -1.
func transactionIndex(attr string) int {
	rest, found := strings.CutPrefix(attr, "transactions.")
	if !found {
		return -1
	}
	number, _, _ := strings.Cut(rest, ".")
	index, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return index
}

// AppendTransaction writes transaction_data: the fields that were sent, in the
// order of the documentation, the amount as a string with two decimals. A date
// that was moved is shown as it is now, beside the original one, and the note
// with the explanation.
func AppendTransaction(dst []byte, transaction landfall.Transaction) []byte {
	document, fault := transactionTable.Read(transaction.Document, rules.Limits{})
	if fault != nil {
		return append(dst, "null"...) // it was read before, so this cannot be
	}
	moved := !transaction.OriginalOn.IsZero()
	dst = append(dst, '{')
	for _, field := range transactionTable.Fields {
		sent := document.Root().Field(field.Name)
		switch {
		case field.Name == "amount":
			dst = rules.AppendText(dst, field.Name, transaction.Amount.String())
		case moved && field.Name == "transaction_date":
			dst = rules.AppendText(dst, field.Name, transaction.On.String())
		case moved && field.Name == "note":
			dst = rules.AppendText(dst, field.Name, transaction.Note)
		case sent.Present():
			dst = append(rules.AppendName(dst, field.Name), sent.Raw()...)
		}
	}
	if moved {
		dst = rules.AppendText(dst, "original_transaction_date", transaction.OriginalOn.String())
	}
	return append(dst, '}')
}
