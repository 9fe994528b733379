package answer

import (
	"context"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
	"landfall/internal/service/intake"
)

// Events reads the feed and may wait for an event.
var Events = &Verb{Path: "events", LongPolls: true, run: (*API).events}

// events returns a page of the feed. Waiting ends when the server shuts down.
func (a *API) events(ctx context.Context, call Call) (Answer, error) {
	asked, err := contract.ReadFeedQuery(call.Query)
	if err != nil {
		return Answer{}, err
	}
	if asked.IncludeData && call.Who.Role != landfall.RoleReader {
		return Answer{}, errNotReader
	}
	page, err := a.service.Events(ctx, call.Who, intake.FeedRequest{
		After: asked.After, Begins: asked.FromOldest, Limit: asked.Limit, Supplier: asked.Supplier, Wait: asked.Wait, Ends: call.Ending,
	})
	if err != nil {
		return Answer{}, err
	}
	told := contract.FeedPage{Next: page.Next, Supplier: asked.Supplier, Events: make([]contract.CloudEvent, len(page.Events))}
	for i, event := range page.Events {
		told.Events[i] = contract.CloudEvent{Event: event, Source: a.source}
	}
	if asked.IncludeData {
		if err := a.includeData(ctx, call.Who, &told); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Status: statusOK, Body: contract.FeedBody.Append(call.Scratch[:0], told)}, nil
}

// includeData adds the whole accounts to a page of events. The page ends early when it
// has become long. What is sent is in the audit before.
func (a *API) includeData(ctx context.Context, who landfall.Principal, page *contract.FeedPage) error {
	base := a.source
	if strings.HasPrefix(base, contract.UnnamedSource) {
		base = ""
	}
	size, accounts := 0, map[string]int{}
	for i := range page.Events {
		one := &page.Events[i]
		if size > limits.FeedAccounts {
			page.Next.ID, page.Next.At = page.Events[i-1].ID, page.Events[i-1].At
			page.Events = page.Events[:i]
			break
		}
		if one.AccountNumber == "" {
			continue // there was no account yet
		}
		account, err := a.service.EventAccount(ctx, who, one.Key)
		switch {
		case err != nil:
			return err
		case account == nil:
			one.Account = contract.NoEventAccount()
			continue
		}
		if one.Account, err = contract.EventAccount(*account, base); err != nil {
			return err
		}
		accounts[one.Key.Supplier]++
		size += len(one.Account)
	}
	for _, supplier := range slices.Sorted(maps.Keys(accounts)) {
		if err := a.service.AuditStream(ctx, who, supplier, accounts[supplier], "in events"); err != nil {
			return err
		}
	}
	return nil
}
