package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"landfall"
	"landfall/internal/contract"
	"landfall/internal/intake"
)

// What the posts onto an account are called in metrics.
const (
	kindNotes        = "notes"
	kindTransactions = "transactions"
	kindStatements   = "statements"
	kindInstruction  = "payment_instruction"
)

// notes adds notes to an account. Its answer is a list, so that warnings, when
// they are asked for, stand beside the note they are about.
func (a *API) notes(ctx context.Context, x *exchange) error {
	warn, err := x.wantsWarnings()
	if err != nil {
		return err
	}
	receipt, err := posted(a, x, kindNotes, func(body []byte) (intake.NotesReceipt, error) {
		return a.Desk.PostNotes(ctx, x.who, body)
	})
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	out := (*buffer)[:0]
	out = append(out, '[')
	for i, result := range receipt.Results {
		if i > 0 {
			out = append(out, ',')
		}
		status := contract.NoteAlreadyExists
		if result.Created {
			status = contract.NoteCreated
		}
		out = receipt.Request.AppendNote(out, i, result.Note.CreatedAt, status)
		if warn {
			own := contract.WarningsOf("notes."+strconv.Itoa(i), receipt.Warnings)
			out = contract.AppendViolations(append(out[:len(out)-1], `,"warnings":`...), own)
			out = append(out, '}')
		}
	}
	out = append(out, ']')
	*buffer = out
	return x.json(http.StatusCreated, out)
}

// transactions adds transactions to an account, all or none. Every 400 of it
// has the same members, whatever was wrong.
func (a *API) transactions(ctx context.Context, x *exchange) error {
	err := a.postTransactions(ctx, x)
	if refusal, is := errors.AsType[*landfall.Error](err); is {
		return contract.RefuseTransactions(refusal)
	}
	return err
}

func (a *API) postTransactions(ctx context.Context, x *exchange) error {
	query := contract.ReadQuery(x.query)
	flags := intake.TransactionFlags{
		CheckAdded: query.Bool("check_previously_added", true),
		ForceDates: query.Bool("force_add_to_current_statement", true),
	}
	warn := query.Bool("include_warnings", false)
	if err := query.Err(); err != nil {
		return err
	}
	receipt, err := posted(a, x, kindTransactions, func(body []byte) (intake.TransactionsReceipt, error) {
		return a.Desk.PostTransactions(ctx, x.who, body, flags)
	})
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	out := (*buffer)[:0]
	out = append(out, `{"results":[`...)
	for i, result := range receipt.Results {
		if i > 0 {
			out = append(out, ',')
		}
		out = contract.AppendTransactionResult(out, result.Transaction, result.Added, result.Existing)
	}
	out = append(out, ']')
	if warn {
		out = contract.AppendViolations(append(out, `,"warnings":`...), receipt.Warnings)
	}
	out = append(out, '}')
	*buffer = out
	return x.json(http.StatusCreated, out)
}

// statements adds historical statements to an account and answers with the
// very bytes that were sent.
func (a *API) statements(ctx context.Context, x *exchange) error {
	warn, err := x.wantsWarnings()
	if err != nil {
		return err
	}
	accepted, err := posted(a, x, kindStatements, func(body []byte) (intake.Accepted, error) {
		return a.Desk.PostStatements(ctx, x.who, body)
	})
	if err != nil {
		return err
	}
	if warn {
		return x.json(http.StatusCreated, contract.AppendWithWarnings(nil, accepted.Body, accepted.Warnings))
	}
	return x.json(http.StatusCreated, accepted.Body)
}

// instruction adds a payment instruction to an account.
func (a *API) instruction(ctx context.Context, x *exchange) error {
	receipt, err := posted(a, x, kindInstruction, func(body []byte) (intake.InstructionReceipt, error) {
		return a.Desk.PostInstruction(ctx, x.who, body)
	})
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	*buffer = contract.AppendInstruction((*buffer)[:0], receipt.AccountNumber, receipt.Reference)
	return x.json(http.StatusCreated, *buffer)
}

// posted reads the body of a posting, hands it to its verb and counts what
// became of it.
func posted[Receipt any](a *API, x *exchange, kind string, verb func(body []byte) (Receipt, error)) (Receipt, error) {
	var receipt Receipt
	body, err := x.readBody(a.BodyLimit, nil)
	if err == nil {
		receipt, err = verb(body)
	}
	result := "accepted"
	if err != nil {
		result = refusalCode(err)
	}
	a.metrics.postings.WithLabelValues(kind, result).Inc()
	return receipt, err
}
