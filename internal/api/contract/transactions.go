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

// Statuses of a posted transaction and of a refused request.
const (
	TransactionAdded         = "TRANSACTION_ADDED_TO_ACCOUNT"
	TransactionAlreadyExists = "TRANSACTION_ALREADY_EXISTS"
	TransactionImportError   = "TRANSACTION_IMPORT_ERROR"
)

// TransactionsRequest adds transactions to an account.
type TransactionsRequest struct {
	accountRequest
	schema *Schema
}

// ReadTransactions reads the body of a transactions request. It returns an error
// only if the body is not a strict JSON object.
func ReadTransactions(ctx context.Context, body []byte) (*TransactionsRequest, error) {
	return plainSchema.ReadTransactions(ctx, body)
}

// ReadTransactions reads transactions with the fields of the supplier's packs.
func (s *Schema) ReadTransactions(ctx context.Context, body []byte) (*TransactionsRequest, error) {
	envelope, err := readAccountRequest(ctx, s.transactions, body)
	if err != nil {
		return nil, err
	}
	return &TransactionsRequest{envelope, s}, nil
}

// Check reports everything that is wrong with the payload. Duplicates within the
// request are only reported if compare is true.
func (r *TransactionsRequest) Check(supplier *landfall.Supplier, now time.Time, compare bool) Verdict {
	c := newChecker(r.document, supplier, now)
	var known *seenSet[string]
	if compare {
		known = new(seenSet[string])
	}
	c.transactions(r.list("transactions"), known)
	c.decimals(r.document)
	c.sums(r.list("transactions"))
	c.packs(r.schema, r.document.Root())
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Transactions returns the transactions of a valid request, each with its JSON.
func (r *TransactionsRequest) Transactions() []landfall.Transaction {
	return bindTransactions(r.list("transactions").Items())
}

// Refusal returns the errors of a verdict in the form of a transactions request:
// the common form and the first failed transaction as sent. It returns nil if
// there are no errors.
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
		// The first failed transaction determines the code if nothing else is wrong
		// with it.
		refusal.Code, refusal.Detail = first.Code, first.Detail
	}
	return r.withTransaction(refusal, index, first.Detail)
}

// FirstFailing returns the index of the first transaction with an error, or -1.
func (r *TransactionsRequest) FirstFailing(verdict Verdict) int {
	_, index := firstFailing(verdict.Errors)
	return index
}

// firstFailing returns the first transaction with a violation, and that
// violation.
func firstFailing(violations []landfall.Violation) (first landfall.Violation, index int) {
	index = -1
	for _, violation := range violations {
		if found := transactionIndex(violation.Attr); found >= 0 && (index < 0 || found < index) {
			first, index = violation, found
		}
	}
	return first, index
}

// Before returns the transactions before index.
func (r *TransactionsRequest) Before(index int) []landfall.Transaction {
	return bindTransactions(r.list("transactions").Items()[:index])
}

// Refuse refuses one transaction for a reason that the payload does not show,
// such as a date outside the open statement period. Violations of later
// transactions follow.
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

// withTransaction adds the transaction to its refusal, as the contract requires.
func (r *TransactionsRequest) withTransaction(refusal *landfall.Error, index int, reason string) *landfall.Error {
	data := json.RawMessage("null")
	if items := r.list("transactions").Items(); index >= 0 && index < len(items) && items[index].Present() {
		data = appendRefused(nil, items[index])
	}
	return importError(refusal, data, reason)
}

// importError adds the members that every 400 of a transactions request has.
func importError(refusal *landfall.Error, data json.RawMessage, reason string) *landfall.Error {
	refusal.Members = []landfall.Member{
		{Name: "transaction_data", Value: data},
		{Name: "error_detail", Value: reason},
		{Name: "status", Value: TransactionImportError},
	}
	return refusal
}

// RefuseTransactions gives a refusal that concerns no single transaction the
// same form.
func RefuseTransactions(refusal *landfall.Error) *landfall.Error {
	if refusal.Kind != landfall.Invalid || len(refusal.Members) > 0 {
		return refusal
	}
	return importError(new(*refusal), json.RawMessage("null"), refusal.Detail)
}

// appendRefused writes a refused transaction as sent, except that a valid amount
// becomes a string with two decimals, as in all responses.
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

// transactionIndex returns N of transactions.N.field, or -1.
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

// AppendTransaction writes transaction_data: the fields that were sent, in
// documented order, then those of packs, and the amount as a string with two
// decimals. If the date was moved, it has the new date, the original date and the
// note with the explanation.
func AppendTransaction(dst []byte, transaction landfall.Transaction) []byte {
	document, fault := transactionTable.Read(transaction.Document, rules.Limits{})
	if fault != nil {
		return append(dst, "null"...) // it was read before, so this cannot be
	}
	defer document.Release()
	moved := !transaction.OriginalOn.IsZero()
	from := len(dst)
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
	if document.Report().Failed() { // it has fields of a pack
		dst = appendOthers(dst, transaction.Document, transactionTable)
	}
	if moved {
		dst = rules.AppendText(dst, "original_transaction_date", transaction.OriginalOn.String())
	}
	joinLines(dst[from:])
	return append(dst, '}')
}
