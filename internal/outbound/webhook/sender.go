package webhook

import (
	"context"
	"net/http"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
)

// Encoder returns the body and the id of an event. Members of its data about the
// account are nil unless the webhook includes them.
type Encoder func(event landfall.Event, account []byte) (id string, body []byte)

// SenderOptions configures a Sender.
type SenderOptions struct {
	delivery.ClientOptions // the time limit is 10 seconds by default

	Encode Encoder
	// Account returns the members of an event's data that carry the whole account,
	// for webhooks that include it.
	Account func(ctx context.Context, event landfall.Event) ([]byte, error)
}

// Sender delivers events to webhooks.
type Sender struct {
	*delivery.Client

	options SenderOptions
}

// NewSender returns a sender.
func NewSender(options SenderOptions) *Sender {
	if options.TimeLimit <= 0 {
		options.TimeLimit = limits.Webhook
	}
	return &Sender{Client: delivery.NewClient(options.ClientOptions), options: options}
}

// Send delivers one event.
func (s *Sender) Send(ctx context.Context, webhook *landfall.Webhook, event landfall.Event) delivery.Outcome {
	var account []byte
	if webhook.IncludeData && s.options.Account != nil {
		var err error
		if account, err = s.options.Account(ctx, event); err != nil {
			return delivery.Outcome{Reason: "the account could not be read"}
		}
	}
	id, body := s.options.Encode(event, account)
	return s.Client.Send(ctx, &delivery.Message{
		Method: http.MethodPost, URL: webhook.URL, ID: id, Body: body, Secrets: webhook.Secrets,
		ContentType: "application/cloudevents+json; charset=utf-8", Agent: "Landfall-Webhook/1",
	})
}
