package answer

import (
	"context"

	"landfall/internal/api/contract"
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
	return Answer{Status: statusOK, Body: contract.FeedBody.Append(call.Scratch[:0], told)}, nil
}
