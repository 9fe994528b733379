package answer

import (
	"context"

	"landfall/internal/api/contract"
	"landfall/internal/service/intake"
)

// Verbs that add something to an account.
var (
	// Notes adds notes.
	Notes = &Verb{Path: "notes/create", supplierField: "import_supplier", Writes: true, KeepsBody: true, run: (*API).notes}
	// Transactions adds all transactions or none. All of its 400 responses have the
	// same members.
	Transactions = &Verb{Path: "transactions/create", supplierField: "import_supplier", Writes: true, KeepsBody: true, run: (*API).transactions,
		refuse: contract.RefuseTransactions}
	// Statements adds historical statements.
	Statements = &Verb{Path: "historical-statements/create", supplierField: "import_supplier", Writes: true, KeepsBody: true, run: (*API).statements}
	// Instruction adds a payment instruction.
	Instruction = &Verb{Path: "payment-instruction/create", supplierField: "import_supplier", Writes: true, KeepsBody: true, run: (*API).instruction}
)

// notes reports for every note whether it is new or already existed, because a
// caller that lost the response sends all of them again.
func (a *API) notes(ctx context.Context, call Call) (Answer, error) {
	warn, err := contract.QueryBool(call.Query, includeWarnings, false)
	if err != nil {
		return Answer{}, err
	}
	receipt, err := a.service.PostNotes(ctx, call.Who, call.Body)
	if err != nil {
		return Answer{}, err
	}
	posted := make([]contract.PostedNote, len(receipt.Results))
	for i, result := range receipt.Results {
		posted[i] = receipt.Request.Posted(i, result.Note.CreatedAt, result.Had)
		if warn {
			posted[i] = posted[i].WithWarnings(receipt.Warnings)
		}
	}
	return Answer{Status: statusCreated, Body: contract.NotesBody.Append(call.Scratch[:0], posted)}, nil
}

// transactions by default skips existing transactions and moves dates into the
// open period, so that a request can be repeated.
func (a *API) transactions(ctx context.Context, call Call) (Answer, error) {
	query := contract.ReadQuery(call.Query)
	flags := intake.TransactionFlags{
		CheckAdded: query.Bool("check_previously_added", true),
		ForceDates: query.Bool("force_add_to_current_statement", true),
		DryRun:     query.Bool("dry_run", false),
	}
	warn := query.Bool(includeWarnings, false)
	if err := query.Err(); err != nil {
		return Answer{}, err
	}
	receipt, err := a.service.PostTransactions(ctx, call.Who, call.Body, flags)
	if err != nil {
		return Answer{}, err
	}
	posted := contract.PostedTransactions{
		Results:         make([]contract.PostedTransaction, len(receipt.Results)),
		IncludeWarnings: warn, Warnings: receipt.Warnings, DryRun: flags.DryRun,
	}
	status := statusCreated
	if flags.DryRun {
		status = statusOK
	}
	for i, result := range receipt.Results {
		posted.Results[i] = contract.PostedTransaction{Transaction: result.Transaction, Added: result.Added}
		if !result.Added {
			posted.Results[i].Differences = receipt.Schema.TransactionDifferences(result.Transaction.Document, result.Sent)
		}
	}
	return Answer{Status: status, Body: contract.TransactionsBody.Append(call.Scratch[:0], posted)}, nil
}

// includeAdded is the flag that adds the number of new items.
const includeAdded = "include_added"

// statements echoes the body. Either all statements are added or none.
func (a *API) statements(ctx context.Context, call Call) (Answer, error) {
	query := contract.ReadQuery(call.Query)
	count, warn := query.Bool(includeAdded, false), query.Bool(includeWarnings, false)
	if err := query.Err(); err != nil {
		return Answer{}, err
	}
	accepted, err := a.service.PostStatements(ctx, call.Who, call.Body)
	if err != nil {
		return Answer{}, err
	}
	return echoAnswer(statusCreated, call, contract.StatementsBody,
		contract.Echo{Body: accepted.Body, IncludeAdded: count, Added: accepted.Added, IncludeWarnings: warn, Warnings: accepted.Warnings}), nil
}

// instruction returns the reference at the vendor.
func (a *API) instruction(ctx context.Context, call Call) (Answer, error) {
	query := contract.ReadQuery(call.Query)
	count, warn := query.Bool(includeAdded, false), query.Bool(includeWarnings, false)
	if err := query.Err(); err != nil {
		return Answer{}, err
	}
	receipt, err := a.service.PostInstruction(ctx, call.Who, call.Body)
	if err == nil && warn {
		err = a.service.WarnInstructionOfOthers(ctx, call.Who, &receipt)
	}
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusCreated, Body: contract.InstructionBody.Append(call.Scratch[:0],
		contract.PostedInstruction{Number: receipt.AccountNumber, Reference: receipt.Reference, IncludeAdded: count, Added: receipt.Added, IncludeWarnings: warn, Warnings: receipt.Warnings})}, nil
}
