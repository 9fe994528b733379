package answer

import (
	"context"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/intake"
)

// Verbs that import an account.
var (
	// Validate checks an account and repeats it.
	Validate = &Verb{Path: "validate-account", run: (*API).validate}
	// Stage checks an account and keeps it.
	Stage = &Verb{Path: "account-import-process/create-or-update", supplierField: "import_supplier", Writes: true, KeepsBody: true, run: (*API).stage,
		runBatch: (*API).stageBatch}
	// Process creates an account from what was staged.
	Process = &Verb{Path: "account-import-process/process", supplierField: "import_supplier_code", Writes: true, run: (*API).process}
)

// validate echoes the body byte for byte, to show that it was accepted as it is.
func (a *API) validate(ctx context.Context, call Call) (Answer, error) {
	warn, err := contract.QueryBool(call.Query, includeWarnings, false)
	if err != nil {
		return Answer{}, err
	}
	accepted, err := a.service.Validate(ctx, call.Who, call.Body)
	if err != nil {
		return Answer{}, err
	}
	return echoAnswer(statusOK, call, contract.ValidatedBody,
		contract.Echo{Body: accepted.Body, IncludeWarnings: warn, Warnings: accepted.Warnings}), nil
}

// includeWarnings is the flag that most verbs have.
const includeWarnings = "include_warnings"

// echoAnswer responds with the request body. Unless more was requested, the body
// is not copied.
func echoAnswer(status int, call Call, body *contract.Body[contract.Echo], echo contract.Echo) Answer {
	if !echo.IncludeWarnings && !echo.IncludeAdded {
		return Answer{Status: status, Body: echo.Body}
	}
	return Answer{Status: status, Body: body.Append(call.Scratch[:0], echo)}
}

// stage responds only after the commit is durable.
func (a *API) stage(ctx context.Context, call Call) (Answer, error) {
	warn, err := contract.QueryBool(call.Query, includeWarnings, false)
	if err != nil {
		return Answer{}, err
	}
	receipt, err := a.service.Stage(ctx, call.Who, call.Body)
	if err == nil && warn {
		err = a.service.WarnOfOthers(ctx, call.Who, &receipt)
	}
	if err != nil {
		return Answer{}, err
	}
	return stagedAnswer(receipt, warn, call.Scratch), nil
}

// stageBatch is stage for lines of a bulk request, which have the same query and
// are written together. Each line has its own answer or error.
func (a *API) stageBatch(ctx context.Context, calls []Call, turn landfall.Turn) ([]Answer, []error) {
	answers, errs := make([]Answer, len(calls)), make([]error, len(calls))
	warn, err := contract.QueryBool(calls[0].Query, includeWarnings, false)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return answers, errs
	}
	handed := make([]intake.StageItem, len(calls))
	for i, call := range calls {
		handed[i] = intake.StageItem{Who: call.Who, Body: call.Body}
	}
	a.service.StageAll(ctx, handed, turn)
	if warn {
		a.service.WarnAllOfOthers(ctx, handed)
	}
	for i := range handed {
		if errs[i] = handed[i].Err; errs[i] == nil {
			answers[i] = stagedAnswer(handed[i].Receipt, warn, calls[i].Scratch)
		}
		answers[i].Supplier = handed[i].Supplier
	}
	return answers, errs
}

// stagedAnswer is the answer for a staged account.
func stagedAnswer(receipt intake.Receipt, warn bool, scratch []byte) Answer {
	status := statusOK
	if receipt.First {
		status = statusCreated
	}
	return Answer{Status: status, Body: contract.StagedBody.Append(scratch[:0],
		contract.Staged{Key: receipt.Key, IncludeWarnings: warn, Warnings: receipt.Warnings})}
}

// process creates an account, or tests its creation in a dry run.
func (a *API) process(ctx context.Context, call Call) (Answer, error) {
	warn, err := contract.QueryBool(call.Query, includeWarnings, false, "dry_run")
	if err != nil {
		return Answer{}, err
	}
	request, err := contract.ReadProcess(ctx, call.Body)
	if err != nil {
		return Answer{}, err
	}
	created, err := a.service.Process(ctx, call.Who, request)
	if err == nil && warn {
		err = a.service.WarnCreatedOfOthers(ctx, call.Who, request.Key, &created)
	}
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusCreated, Body: contract.CreatedBody.Append(call.Scratch[:0],
		contract.Created{Number: created.Number, External: request.Key.External, IncludeWarnings: warn, Warnings: created.Warnings})}, nil
}

// rejectQuery refuses query parameters of a verb that has none. The members are those of
// its body that callers may look for here.
func rejectQuery(call Call, members ...string) error {
	if call.Query == "" {
		return nil
	}
	return contract.ReadQuery(call.Query).InBody(members...).Err()
}
