package answer

import (
	"context"
	"iter"
	"net/url"

	"landfall"
	"landfall/internal/api/contract"
)

// Verbs that read whole accounts, with personal data.
var (
	// WholeAccount returns one account.
	WholeAccount = &Verb{Path: "accounts", ReadsPersonal: true, run: (*API).wholeAccount}
	// WholeAccounts streams the accounts of a supplier as lines.
	WholeAccounts = &Verb{Path: "accounts", ReadsPersonal: true, Streams: true, run: (*API).wholeAccounts}
)

// wholeAccount returns one account. A long one is sent piece by piece.
func (a *API) wholeAccount(ctx context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call); err != nil {
		return Answer{}, err
	}
	account, err := a.service.WholeAccount(ctx, call.Who, landfall.Key{Supplier: call.Path[0], External: call.Path[1]})
	if err != nil {
		return Answer{}, err
	}
	whole, err := contract.NewWholeAccount(account)
	if err != nil {
		return Answer{}, err
	}
	if account.Lists.Lengths() == account.Lengths {
		return Answer{Status: statusOK, Body: contract.WholeAccountBody.Append(call.Scratch[:0], whole)}, nil
	}
	return Answer{Status: statusOK, Pieces: func(send Send) error {
		body, err := contract.AppendWholeAccount(call.Scratch[:0], &whole, a.pieces(ctx, call.Who, send))
		if err != nil {
			return err
		}
		return send(body, true)
	}}, nil
}

// pieces sends what is written of a whole account.
func (a *API) pieces(ctx context.Context, who landfall.Principal, send Send) contract.Pieces {
	return contract.Pieces{
		Size:  pieceSize,
		Flush: func(written []byte) ([]byte, error) { return written[:0], send(written, false) },
		More: func(query landfall.AccountListsQuery) (landfall.AccountLists, error) {
			return a.service.AccountLists(ctx, who, query)
		},
	}
}

// wholeAccounts streams accounts, one on each line. What was sent is in the audit
// before the last line is sent.
func (a *API) wholeAccounts(ctx context.Context, call Call) (Answer, error) {
	asked, err := contract.ReadWholeAccountQuery(call.Query, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	query := landfall.WholeAccountQuery{Supplier: call.Path[0], After: asked.After, Changed: asked.ChangedSince != ""}
	if asked.Fingerprint {
		query.Fingerprint = contract.Fingerprint
	}
	stream, err := a.service.WholeAccounts(ctx, call.Who, query, asked.Since, asked.Limit)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Status: statusOK, Lines: true, Cursor: contract.EncodeEventCursor(stream.Seen, call.Path[0])}
	if stream.End != nil {
		answer.Next = nextQuery(asked.Limit, *stream.End)
		if asked.ChangedSince != "" {
			answer.Next += "&changed_since=" + asked.ChangedSince
		}
		if !asked.Fingerprint {
			answer.Next += "&fingerprint=false"
		}
		if asked.Reason != "" {
			answer.Next += "&reason=" + url.QueryEscape(asked.Reason)
		}
	}
	answer.Pieces = func(send Send) error { return a.sendWhole(ctx, call, asked, stream.Accounts, send) }
	return answer, nil
}

// sendWhole sends accounts as lines.
func (a *API) sendWhole(ctx context.Context, call Call, asked contract.WholeAccountQuery, accounts iter.Seq2[landfall.WholeAccount, error], send Send) (err error) {
	count, recorded := 0, false
	defer func() {
		if !recorded { // cut off: record what was sent so far
			_ = a.service.AuditStream(ctx, call.Who, call.Path[0], count, asked.Reason)
		}
	}()
	pieces := a.pieces(ctx, call.Who, send)
	body := call.Scratch[:0]
	for account, err := range accounts {
		if err != nil {
			return err
		}
		count++
		whole := contract.WholeAccount{WholeAccount: account, NoFingerprint: !asked.Fingerprint, OneLine: true}
		if body, err = contract.AppendWholeAccount(body, &whole, pieces); err != nil {
			return err
		}
		if body = append(body, '\n'); len(body) < pieceSize {
			continue
		}
		// The supplier may have been revoked meanwhile.
		if err := a.service.RequireSupplier(ctx, call.Who, call.Path[0]); err != nil {
			return err
		}
		if body, err = pieces.Flush(body); err != nil {
			return err
		}
	}
	recorded = true
	if err := a.service.AuditStream(ctx, call.Who, call.Path[0], count, asked.Reason); err != nil {
		return err
	}
	return send(body, true)
}
