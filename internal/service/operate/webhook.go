package operate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/webhook"
)

// WebhookRequest describes the webhook to add.
type WebhookRequest struct {
	Name, Organisation, URL string
	Types, Suppliers        []string // none: all
	FromStart               bool     // deliver earlier events, too
	IncludeData             bool     // events carry the whole account
}

// webhookName is narrow because names are typed in commands and used as metric
// labels.
var webhookName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// AddWebhook adds a webhook and returns the secret that its deliveries are
// signed with. The secret is shown only once; RotateWebhook creates another.
func (o *Operator) AddWebhook(ctx context.Context, request WebhookRequest) (landfall.Webhook, string, error) {
	webhook, err := o.checkWebhook(request)
	if err != nil {
		return landfall.Webhook{}, "", err
	}
	secret, text, err := o.newSecret()
	if err != nil {
		return landfall.Webhook{}, "", err
	}
	webhook.Secrets = []landfall.WebhookSecret{secret}
	// Look up the end of the log before the webhook exists. Events in between
	// are delivered too: an extra event does less harm than a missing one.
	if !request.FromStart {
		if webhook.Position, err = o.endOfLog(ctx); err != nil {
			return landfall.Webhook{}, "", err
		}
	}
	err = o.change(ctx, "webhook.add", webhook.Name, func(tx landfall.Tx) (string, error) {
		if _, err := tx.Organisation(ctx, webhook.Organisation); err != nil {
			return "", organisationError(ctx, tx, webhook.Organisation, err)
		}
		// With a mistyped supplier the webhook would silently wait for ever.
		// Whether the organisation may use the supplier is not checked: it may
		// be granted later, and every round checks it.
		for _, code := range webhook.Suppliers {
			if _, err := tx.Supplier(ctx, code); err != nil {
				return "", supplierError(ctx, tx, code, err)
			}
		}
		return describeWebhook(webhook), replaceError(tx.CreateWebhook(ctx, webhook), landfall.ErrExists,
			nameTaken("There is already a webhook %q. Remove it first, or choose another name.", webhook.Name))
	})
	if err != nil {
		return landfall.Webhook{}, "", err
	}
	return webhook, text, nil
}

// checkWebhook checks everything that can be checked without the database.
func (o *Operator) checkWebhook(request WebhookRequest) (landfall.Webhook, error) {
	webhook := landfall.Webhook{
		Name: request.Name, Organisation: request.Organisation, URL: request.URL, Suppliers: request.Suppliers, State: landfall.WebhookActive,
		IncludeData: request.IncludeData,
	}
	if !webhookName.MatchString(request.Name) {
		return webhook, invalid("name", rules.CodeInvalidCharacters, "A webhook's name must have 1 to 64 letters, digits, '_', '.' or '-' and begin with a letter or digit.")
	}
	if o.sender == nil {
		return webhook, errors.New("this program does not deliver events")
	}
	if err := o.sender.CheckURL(request.URL); err != nil {
		return webhook, invalid("url", "invalid_setting", "The address cannot be used: %v. See the settings webhook-networks and webhook-plain-http.", err)
	}
	known := []string{}
	for _, kind := range contract.EventKinds() {
		known = append(known, string(kind.Type))
	}
	for _, name := range request.Types {
		if !slices.Contains(known, name) {
			return webhook, invalid("event", rules.CodeInvalidChoice, "There is no event %q. %s", name, suggestion(name, known, "docs/event-types.md"))
		}
		webhook.Types = append(webhook.Types, landfall.EventType(name))
	}
	return webhook, nil
}

// newSecret creates a secret and returns it with its text for the receiver.
func (o *Operator) newSecret() (landfall.WebhookSecret, string, error) {
	if o.sender == nil {
		return landfall.WebhookSecret{}, "", delivery.ErrNoKey
	}
	secret, err := o.sender.Keys.New()
	if err != nil {
		return secret, "", landfall.Refuse(landfall.CodeValidationFailed, sentence(err))
	}
	text, err := o.sender.Keys.Reveal(secret)
	return secret, text, err
}

// sentence makes a sentence of one of our errors. Those begin with an ASCII
// letter, which is one byte.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// endOfLog returns the position of the last complete event: all later events
// come after it.
func (o *Operator) endOfLog(ctx context.Context) (int64, error) {
	complete, err := webhook.NewLogWatcher(o.store).CompleteUpTo(ctx)
	return complete, storeError("webhook.add", err)
}

// Webhooks returns the webhooks of an organisation, or of all organisations with
// "".
func (o *Operator) Webhooks(ctx context.Context, organisation string) ([]landfall.Webhook, error) {
	var webhooks []landfall.Webhook
	err := o.view(ctx, "webhook.list", func(view landfall.View) (err error) {
		if organisation != "" {
			if _, err := view.Organisation(ctx, organisation); err != nil {
				return organisationError(ctx, view, organisation, err)
			}
		}
		webhooks, err = view.Webhooks(ctx, organisation)
		return err
	})
	return webhooks, err
}

// WebhookFacts is everything an operator sees about a webhook.
type WebhookFacts struct {
	landfall.Webhook
	Rounds        []landfall.RoundEntry // newest first
	Waiting, Dead []landfall.Delivery   // the first maxShown
	WebhookBacklog
}

// WebhookBacklog is what a webhook has not received.
type WebhookBacklog struct {
	RetryCount  int // failed at least once and are tried again
	Undelivered int // come after its position, counted up to maxWaiting
	DeadCount   int
}

// WaitingCount is how many events wait for the webhook.
func (b WebhookBacklog) WaitingCount() int { return b.RetryCount + b.Undelivered }

// Incomplete reports whether more events may wait than were counted.
func (b WebhookBacklog) Incomplete() bool { return b.Undelivered >= maxWaiting }

// backlog counts what a webhook has not received.
func backlog(ctx context.Context, view landfall.View, webhook landfall.Webhook) (behind WebhookBacklog, err error) {
	if _, behind.RetryCount, err = view.Deliveries(ctx, webhook.Name, landfall.DeliveryWaiting, 0); err != nil {
		return behind, err
	}
	if _, behind.DeadCount, err = view.Deliveries(ctx, webhook.Name, landfall.DeliveryDead, 0); err != nil {
		return behind, err
	}
	behind.Undelivered, err = view.Undelivered(ctx, webhook, maxWaiting)
	return behind, err
}

// WebhookBacklogs returns what each of some webhooks has not received.
func (o *Operator) WebhookBacklogs(ctx context.Context, webhooks []landfall.Webhook) (all []WebhookBacklog, err error) {
	err = o.view(ctx, "webhook.list", func(view landfall.View) error {
		all = make([]WebhookBacklog, len(webhooks))
		for i, webhook := range webhooks {
			if all[i], err = backlog(ctx, view, webhook); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// maxShown is how many rounds or deliveries are shown at most.
const maxShown = 100

// ShowWebhook returns a webhook with its last rounds and its waiting and dead
// deliveries.
func (o *Operator) ShowWebhook(ctx context.Context, name string) (WebhookFacts, error) {
	var facts WebhookFacts
	err := o.view(ctx, "webhook.show", func(view landfall.View) (err error) {
		if facts.Webhook, err = view.Webhook(ctx, name); err != nil {
			return webhookError(ctx, view, name, err)
		}
		if facts.Rounds, err = view.Rounds(ctx, name, maxShown); err != nil {
			return err
		}
		if facts.Waiting, _, err = view.Deliveries(ctx, name, landfall.DeliveryWaiting, maxShown); err != nil {
			return err
		}
		if facts.Dead, _, err = view.Deliveries(ctx, name, landfall.DeliveryDead, maxShown); err != nil {
			return err
		}
		facts.WebhookBacklog, err = backlog(ctx, view, facts.Webhook)
		return err
	})
	return facts, err
}

// RemoveWebhook removes a webhook and everything stored about it.
func (o *Operator) RemoveWebhook(ctx context.Context, name string) error {
	return o.change(ctx, "webhook.remove", name, func(tx landfall.Tx) (string, error) {
		return "", webhookError(ctx, tx, name, tx.RemoveWebhook(ctx, name))
	})
}

func (o *Operator) alter(ctx context.Context, action, name string, how func(*landfall.Webhook) (string, error)) error {
	return o.change(ctx, action, name, func(tx landfall.Tx) (string, error) {
		// Reading it in the transaction locks it, so that of two operators
		// neither overwrites the other's change.
		webhook, err := tx.Webhook(ctx, name)
		if err != nil {
			return "", webhookError(ctx, tx, name, err)
		}
		detail, err := how(&webhook)
		if err != nil {
			return "", err
		}
		return detail, tx.SaveWebhook(ctx, webhook)
	})
}

// RotateWebhook gives a webhook a new secret. For the overlap, deliveries are
// signed with the former secret as well, so that the receiver can switch at any
// time.
func (o *Operator) RotateWebhook(ctx context.Context, name string, overlap time.Duration) (string, error) {
	secret, text, err := o.newSecret()
	if err != nil {
		return "", err
	}
	err = o.alter(ctx, "webhook.rotate", name, func(webhook *landfall.Webhook) (string, error) {
		// Only the newest former secret stays valid. An operator who rotates
		// twice in a row wants to get rid of the older one.
		former := webhook.Secrets[0]
		former.Until = o.clock().Add(overlap).UTC()
		webhook.Secrets = []landfall.WebhookSecret{secret, former}
		return "the previous secret is valid until " + former.Until.Format(time.RFC3339), nil
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

// EnableWebhook delivers to a webhook again, from its last position or from now
// on.
func (o *Operator) EnableWebhook(ctx context.Context, name string, fromNow bool) error {
	end := int64(0)
	if fromNow {
		var err error
		if end, err = o.endOfLog(ctx); err != nil {
			return err
		}
	}
	return o.alter(ctx, "webhook.enable", name, func(webhook *landfall.Webhook) (string, error) {
		webhook.State = landfall.WebhookActive
		if fromNow {
			// Never move back here: events are delivered again only if an
			// operator asks for a replay.
			webhook.Position = max(end, webhook.Position)
			return "from now on", nil
		}
		return "from its last position", nil
	})
}

// DisableWebhook stops deliveries to a webhook until it is enabled.
func (o *Operator) DisableWebhook(ctx context.Context, name string) error {
	return o.alter(ctx, "webhook.disable", name, func(webhook *landfall.Webhook) (string, error) {
		webhook.State = landfall.WebhookOff
		return "", nil
	})
}

// describeWebhook describes a webhook for the audit, which is kept for ever, without its secret and
// without the token that its URL may contain.
func describeWebhook(webhook landfall.Webhook) string {
	parts := []string{"organisation=" + webhook.Organisation, fmt.Sprintf("url=%q", webhook.MaskedURL())}
	for _, kind := range webhook.Types {
		parts = append(parts, "event "+string(kind))
	}
	for _, code := range webhook.Suppliers {
		parts = append(parts, "supplier "+code)
	}
	if webhook.IncludeData {
		parts = append(parts, "with whole accounts")
	}
	return strings.Join(parts, ", ")
}

// webhookError turns ErrNotFound into a refusal that suggests the name that was
// probably meant.
func webhookError(ctx context.Context, view landfall.WebhookReader, name string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	webhooks, err := view.Webhooks(ctx, "")
	if err != nil {
		return err
	}
	known := namesOf(webhooks, func(w landfall.Webhook) string { return w.Name })
	return notFound(landfall.CodeNotFound, "There is no webhook %q. %s", name, suggestion(name, known, "webhook list"))
}
