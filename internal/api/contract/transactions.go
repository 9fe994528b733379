package contract

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// The statuses of a posted transaction, and of a refused request.
const (
	TransactionAdded         = "TRANSACTION_ADDED_TO_ACCOUNT"
	TransactionAlreadyExists = "TRANSACTION_ALREADY_EXISTS"
	TransactionImportError   = "TRANSACTION_IMPORT_ERROR"
)

// TransactionsRequest brings transactions for an account.
type TransactionsRequest struct{ accountRequest }

// ReadTransactions reads the body of a transactions import. Its only error is
// a *landfall.Error for bytes that are no strict JSON object.
func ReadTransactions(ctx context.Context, body []byte) (*TransactionsRequest, error) {
	envelope, err := readAccountRequest(ctx, transactionsTable, body)
	if err != nil {
		return nil, err
	}
	return &TransactionsRequest{envelope}, nil
}

// Check tells everything that is wrong with the payload. Twins inside the
// request are looked for only when the caller compares identifiers at all.
func (r *TransactionsRequest) Check(supplier *landfall.Supplier, now time.Time, compare bool) Verdict {
	c := newChecker(r.document, supplier, now)
	var known *seenSet[string]
	if compare {
		known = new(seenSet[string])
	}
	c.transactions(r.list("transactions"), known)
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Transactions gives the transactions of a request without errors, each with
// its own JSON.
func (r *TransactionsRequest) Transactions() []landfall.Transaction {
	return bindTransactions(r.list("transactions").Items())
}

// Refusal gives a verdict's errors the body that a transactions import has: the
// common form and, beside it, the first failing transaction as it was sent.
// It is nil when there are no errors.
func (r *TransactionsRequest) Refusal(verdict Verdict) *landfall.Error {
	refusal := verdict.Err()
	if refusal == nil {
		return nil
	}
	first, index := firstFailing(refusal.Violations)
	if index < 0 {
		return r.withTransaction(refusal, index, refusal.Detail)
	}
	twin := true
	for _, violation := range refusal.Violations {
		twin = twin && (transactionIndex(violation.Attr) != index || violation.Code == landfall.CodeDuplicateTransactions)
	}
	if twin {
		// The first failing one decides, and nothing else is wrong with it.
		refusal.Code, refusal.Detail = first.Code, first.Detail
	}
	return r.withTransaction(refusal, index, first.Detail)
}

// FirstFailing gives the index of the first transaction that a verdict has an
// error about, or -1.
func (r *TransactionsRequest) FirstFailing(verdict Verdict) int {
	_, index := firstFailing(verdict.Errors)
	return index
}

// firstFailing finds the violation of the first transaction that has one,
// which is the one the answer is about.
func firstFailing(violations []landfall.Violation) (first landfall.Violation, index int) {
	index = -1
	for _, violation := range violations {
		if found := transactionIndex(violation.Attr); found >= 0 && (index < 0 || found < index) {
			first, index = violation, found
		}
	}
	return first, index
}

// Before gives the transactions in front of one of them.
func (r *TransactionsRequest) Before(index int) []landfall.Transaction {
	return bindTransactions(r.list("transactions").Items()[:index])
}

// Refuse refuses one transaction for a reason that the payload alone does not
// show, such as a date outside the open statement period. What is wrong with
// later ones is told behind it.
func (r *TransactionsRequest) Refuse(index int, field, code, detail string, later []landfall.Violation) *landfall.Error {
	refusal := landfall.Refuse(code, detail)
	refusal.Violations = append([]landfall.Violation{{
		Code: code, Attr: "transactions." + strconv.Itoa(index) + "." + field, Detail: detail,
	}}, later...)
	if len(refusal.Violations) > maxViolations {
		refusal.Violations = append(refusal.Violations[:maxViolations], tooManyErrors)
	}
	return r.withTransaction(refusal, index, detail)
}

// withTransaction puts the transaction itself into its refusal, as the
// contract wants it, byte for byte as it was sent.
func (r *TransactionsRequest) withTransaction(refusal *landfall.Error, index int, reason string) *landfall.Error {
	data := json.RawMessage("null")
	if items := r.list("transactions").Items(); index >= 0 && index < len(items) && items[index].Present() {
		data = appendRefused(nil, items[index])
	}
	return importError(refusal, data, reason)
}

// importError adds the members that every 400 of a transactions import has.
func importError(refusal *landfall.Error, data json.RawMessage, reason string) *landfall.Error {
	refusal.Members = []landfall.Member{
		{Name: "transaction_data", Value: data},
		{Name: "error_detail", Value: reason},
		{Name: "status", Value: TransactionImportError},
	}
	return refusal
}

// RefuseTransactions gives a refusal that concerns no single transaction the
// form of the others.
func RefuseTransactions(refusal *landfall.Error) *landfall.Error {
	if refusal.Kind != landfall.Invalid || len(refusal.Members) > 0 {
		return refusal
	}
	return importError(new(*refusal), json.RawMessage("null"), refusal.Detail)
}

// appendRefused writes a refused transaction as it was sent, but for an amount
// that can be read: that leaves as a string with two decimals like everywhere.
func appendRefused(dst []byte, sent *rules.Node) []byte {
	amount := sent.Field("amount")
	var members map[string]json.RawMessage
	if !amount.Valid() || json.Unmarshal([]byte(sent.Raw()), &members) != nil {
		return append(dst, sent.Raw()...)
	}
	dst = append(dst, '{')
	for _, field := range transactionTable.Fields {
		if raw, given := members[field.Name]; given {
			if field.Name == "amount" {
				raw = rules.AppendString(nil, amount.Amount().String())
			}
			dst = append(rules.AppendName(dst, field.Name), raw...)
			delete(members, field.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		dst = append(rules.AppendName(dst, name), members[name]...)
	}
	return append(dst, '}')
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
