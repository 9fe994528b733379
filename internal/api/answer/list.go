package answer

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// Verbs that read.
var (
	// Status returns the import status of one account.
	Status = &Verb{Path: "account-transfer-status", run: (*API).status}
	// All, Pending and Imported list a supplier's accounts.
	All      = listing("all-account-import-processes", landfall.AllProcesses)
	Pending  = listing("pending-account-import-processes", landfall.PendingProcesses)
	Imported = listing("imported-account-import-processes", landfall.ImportedProcesses)
	// Failed lists failed accounts.
	Failed = &Verb{Path: "failed-account-import-processes", Streams: true, run: (*API).failed}
	// Summary groups failures.
	Summary = &Verb{Path: "error-summary", run: (*API).summary}
	// Duplicates lists pairs of accounts that share an identifier.
	Duplicates = &Verb{Path: "duplicate-accounts", Streams: true, run: (*API).duplicates}
	// Rules lists the rules and error codes.
	Rules = &Verb{Path: "rules", run: (*API).rules}
)

// status is polled by callers that wait for an account, so the short form reads
// one small row and no document.
func (a *API) status(ctx context.Context, call Call) (Answer, error) {
	detailed, err := contract.QueryBool(call.Query, "detail", false)
	if err != nil {
		return Answer{}, err
	}
	key := landfall.Key{Supplier: call.Path[0], External: call.Path[1]}
	if !detailed {
		standing, err := a.service.Status(ctx, call.Who, key)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Status: statusOK, Body: contract.StatusBody.Append(call.Scratch[:0],
			contract.TransferStatus{Status: string(standing.Status), Number: standing.AccountNumber})}, nil
	}
	standing, detail, err := a.service.StatusDetail(ctx, call.Who, key)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.StatusBody.Append(call.Scratch[:0], contract.TransferStatus{
		Status: string(standing.Status), Number: standing.AccountNumber, Process: &detail.Process, Figures: detail.Figures,
		Fingerprint: detail.Fingerprint, Delivery: detail.Delivery, Undone: detail.Undone,
	})}, nil
}

// listing declares one of the three lists.
func listing(tail string, filter landfall.ProcessFilter) *Verb {
	return &Verb{Path: tail, Streams: true, run: func(a *API, ctx context.Context, call Call) (Answer, error) {
		read := readPage
		if filter == landfall.ImportedProcesses {
			read = contract.ReadDetailedPage
		}
		page, figures, err := read(call.Query)
		if err != nil {
			return Answer{}, err
		}
		query := landfall.ProcessQuery{Supplier: call.Path[0], Filter: filter, Limit: page.Limit, After: page.After, Figures: figures}
		if page.Limit > 0 {
			return a.page(ctx, call, query)
		}
		rows, err := a.service.List(ctx, call.Who, query)
		if err != nil {
			return Answer{}, err
		}
		return Stream(call, rows, contract.ProcessBody), nil
	}}
}

// readPage reads the query of a list without a detail flag.
func readPage(raw string) (contract.ListPage, bool, error) {
	page, err := contract.ReadPage(raw)
	return page, false, err
}

// page returns at most limit entries. It reads one more, to know whether there
// is a next page.
func (a *API) page(ctx context.Context, call Call, query landfall.ProcessQuery) (Answer, error) {
	limit := query.Limit
	query.Limit++
	rows, err := a.service.List(ctx, call.Who, query)
	if err != nil {
		return Answer{}, err
	}
	return writePage(call, rows, limit, contract.ProcessBody, func(last landfall.ProcessEntry) string {
		next := nextQuery(limit, landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External})
		if query.Figures {
			next += "&detail=true"
		}
		return next
	})
}

// nextQuery is the query of the page after an entry.
func nextQuery(limit int, place landfall.ProcessCursor) string {
	return fmt.Sprintf("limit=%d&after=%s", limit, contract.EncodeCursor(place))
}

// writePage writes a page; next returns the query of the next one.
func writePage[T any](
	call Call, rows iter.Seq2[T, error], limit int, item *contract.Body[T], behind func(T) string,
) (Answer, error) {
	answer := Answer{Status: statusOK}
	body, count := append(call.Scratch[:0], '['), 0 //nolint:gocritic // the scratch lends its memory
	var last T
	for entry, err := range rows {
		if err != nil {
			return Answer{}, err
		}
		if count == limit {
			answer.Next = behind(last)
			break
		}
		body = item.Append(rules.AppendComma(body), entry)
		last, count = entry, count+1
	}
	answer.Body = append(body, ']') //nolint:gocritic // the body is finished here
	return answer, nil
}

// failed reads one more row than requested, to know whether there is a next
// page.
func (a *API) failed(ctx context.Context, call Call) (Answer, error) {
	page, err := contract.ReadPage(call.Query)
	if err != nil {
		return Answer{}, err
	}
	query := landfall.FailureQuery{Supplier: call.Path[0]}
	if page.After != nil {
		query.After, query.AfterPosting = page.After.External, postingAt(page.After.FirstStagedAt)
	}
	if page.Limit > 0 {
		query.Limit = page.Limit + 1
	}
	rows, err := a.service.Failed(ctx, call.Who, query)
	if err != nil {
		return Answer{}, err
	}
	return failures(call, rows, page.Limit)
}

// failures returns failed accounts: all or a page.
func failures(call Call, rows iter.Seq2[landfall.FailedProcess, error], limit int) (Answer, error) {
	if limit == 0 {
		return Stream(call, rows, contract.FailedBody), nil
	}
	return writePage(call, rows, limit, contract.FailedBody, func(last landfall.FailedProcess) string {
		// The position is the number and the kind of posting, if any.
		kind := slices.Index(landfall.PostingKinds, last.Failure.Posting) + 1
		return nextQuery(limit, landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(int64(kind)), External: last.External})
	})
}

// postingAt returns the kind of posting that a position of the list of failures
// contains in place of a time.
func postingAt(place time.Time) landfall.PostingKind {
	if kind := place.UnixMicro() - 1; kind >= 0 && kind < int64(len(landfall.PostingKinds)) {
		return landfall.PostingKinds[kind]
	}
	return ""
}

// summary groups failures by code.
func (a *API) summary(ctx context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call); err != nil {
		return Answer{}, err
	}
	summary, err := a.service.ErrorSummary(ctx, call.Who, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.SummaryBody.Append(call.Scratch[:0], summary)}, nil
}

// duplicates reads one more pair than requested, to know whether there is a next
// page.
func (a *API) duplicates(ctx context.Context, call Call) (Answer, error) {
	supplier, err := a.service.Supplier(ctx, call.Who, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	if supplier == nil {
		return Answer{}, a.service.RequireSupplier(ctx, call.Who, call.Path[0])
	}
	query, err := contract.ReadDuplicates(call.Query, supplier)
	if err != nil {
		return Answer{}, err
	}
	limit := query.Limit
	if limit == 0 {
		return Stream(call, a.service.Duplicates(ctx, call.Who, query), contract.DuplicateBody), nil
	}
	query.Limit++
	values, err := url.ParseQuery(call.Query)
	if err != nil {
		return Answer{}, err
	}
	return writePage(call, a.service.Duplicates(ctx, call.Who, query), limit, contract.DuplicateBody, func(last landfall.Duplicate) string {
		values.Set("after", contract.EncodeDuplicateCursor(last.Cursor, query.Kinds))
		return values.Encode()
	})
}

// rules returns the rules and error codes, which never change while the program
// runs.
func (a *API) rules(_ context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call); err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: ruleBook()}, nil
}

// pieceSize is how much of a list is collected before it is sent. Larger pieces
// are hardly faster; smaller ones cost more system calls.
const pieceSize = 32 << 10

// Stream returns a whole list piece by piece, so that memory does not grow with
// its length.
func Stream[T any](call Call, rows iter.Seq2[T, error], item *contract.Body[T]) Answer {
	return Answer{Status: statusOK, Pieces: func(send Send) error {
		piece := append(call.Scratch[:0], '[') //nolint:gocritic // the scratch lends its memory
		first := true
		for row, err := range rows {
			if err != nil {
				return err
			}
			if !first {
				piece = append(piece, ',')
			}
			first = false
			piece = item.Append(piece, row)
			if len(piece) >= pieceSize {
				if err := send(piece, false); err != nil {
					return err
				}
				piece = piece[:0]
			}
		}
		return send(append(piece, ']'), true)
	}}
}

// ruleBook is written once.
var ruleBook = sync.OnceValue(contract.RuleBookJSON)
